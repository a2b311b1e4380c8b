// Which key licenses are checked with: the built-in one, but for a quick start that was told another.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { EMBEDDED_LICENSE_ANCHOR_PEM } from './license-anchor.ts';
import { ed25519KeyOf, licenseAnchorOf } from './license-trust.ts';

const folder = mkdtempSync(join(tmpdir(), 'anchor-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const pair = generateKeyPairSync('ed25519');
const publicPem = pair.publicKey.export({ format: 'pem', type: 'spki' }).toString();

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
const anchorOf = (override: string | null, isQuickStart: boolean) =>
  licenseAnchorOf({ override, isQuickStart, logger: silentLogger });

describe('the license trust anchor', () => {
  const embedded = { source: 'embedded', publicKey: ed25519KeyOf(EMBEDDED_LICENSE_ANCHOR_PEM) };

  it('should be the embedded key, whatever the environment says, unless it is a quick start', () => {
    const other = fileOf('other.pub', publicPem);
    expect(anchorOf(null, false)).toEqual(embedded);
    expect(anchorOf(null, true)).toEqual(embedded);
    expect(anchorOf(other, false)).toEqual(embedded);
    expect(embedded.publicKey.length).toBe(32);
    expect(anchorOf(other, true)).toEqual({
      source: 'evaluation',
      publicKey: ed25519KeyOf(publicPem),
    });
  });

  it('should stop the start when the named key cannot be used', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const wrong = [
      join(folder, 'absent.pub'),
      fileOf('no.pub', 'no key'),
      fileOf('rsa.pub', rsa.publicKey.export({ format: 'pem', type: 'spki' }).toString()),
      fileOf('private.pem', pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()),
    ];
    for (const path of wrong) {
      expect(() => anchorOf(path, true)).toThrow('SERVICE_LICENSE_TRUST_ANCHOR');
      expect(anchorOf(path, false)).toEqual(embedded);
    }
  });
});
