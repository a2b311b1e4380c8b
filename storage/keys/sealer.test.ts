import { createCipheriv, randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSealer, retiredSealers, retireSealers, rotateSealer } from './sealer.ts';

const folder = mkdtempSync(join(tmpdir(), 'sealer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const open = (name = 'operator-secrets.key') => openSealer({ folder, name });
const SECRET = 'JBSWY3DPEHPK3PXP-grün';

describe('sealer', () => {
  it('should open what it sealed, also after a restart, and never seal one text twice alike', async () => {
    const sealed = (await open()).seal(SECRET, 'totp:ann');
    expect((await open()).open(sealed, 'totp:ann')).toBe(SECRET);
    expect((await open()).seal(SECRET, 'totp:ann')).not.toBe(sealed);
    expect(sealed).not.toContain(SECRET);
    expect(sealed).not.toContain(Buffer.from(SECRET).toString('base64url'));
    const sealer = await open();
    expect(sealer.open(sealer.seal('', 'totp:ann'), 'totp:ann')).toBe('');
  });

  it('should open nothing in another context or under another key', async () => {
    const sealed = (await open()).seal(SECRET, 'totp:ann');
    expect((await open()).open(sealed, 'totp:bob')).toBeNull();
    expect((await open()).open(sealed, '')).toBeNull();
    expect((await open('another.key')).open(sealed, 'totp:ann')).toBeNull();
  });

  it('should open nothing of which a single bit was bent, or that is cut or respelled', async () => {
    const sealer = await open();
    const sealed = sealer.seal(SECRET, 'totp:ann');
    const prefix = sealed.slice(0, sealed.lastIndexOf(':') + 1);
    const whole = Buffer.from(sealed.slice(prefix.length), 'base64url');
    for (let byte = 0; byte < whole.length; byte += 1) {
      const bent = Buffer.from(whole);
      bent.writeUInt8(whole.readUInt8(byte) ^ 1, byte);
      expect(sealer.open(prefix + bent.toString('base64url'), 'totp:ann')).toBeNull();
      const cut = prefix + whole.subarray(0, byte).toString('base64url');
      expect(sealer.open(cut, 'totp:ann')).toBeNull();
    }
    for (const odd of ['', prefix, SECRET, `${sealed}=`, `${sealed}\n`, sealed.slice(1)]) {
      expect(sealer.open(odd, 'totp:ann')).toBeNull();
    }
  });

  it('should open what was sealed before a key had a name, and seal it anew with one', async () => {
    const key = Buffer.from(readFileSync(join(folder, 'operator-secrets.key'), 'utf8'), 'hex');
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from('totp:ann'));
    const hidden = Buffer.concat([cipher.update(SECRET, 'utf8'), cipher.final()]);
    const whole = Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString('base64url');
    const old = `sealed1:${whole}`;
    const sealer = await open();
    expect([sealer.open(old, 'totp:ann'), sealer.isCurrent(old)]).toEqual([SECRET, false]);
    expect(sealer.open(old, 'totp:bob')).toBeNull();
    const anew = sealer.seal(SECRET, 'totp:ann');
    expect(anew).toMatch(/^sealed2:[0-9a-f]{16}:/);
    expect(sealer.isCurrent(anew)).toBe(true);
  });

  it('should change its key, open what the one before sealed, and forget it when told', async () => {
    const place = { folder, name: 'turning.key' };
    const first = (await openSealer(place)).seal(SECRET, 'a');
    await rotateSealer(place, 1);
    const turned = await openSealer(place);
    expect([turned.open(first, 'a'), turned.isCurrent(first)]).toEqual([SECRET, false]);
    const second = turned.seal(SECRET, 'a');
    expect(second.split(':')[1]).not.toBe(first.split(':')[1]);
    // Somebody who says that another key sealed it opens nothing.
    const renamed = second.replace(String(second.split(':')[1]), String(first.split(':')[1]));
    expect(turned.open(renamed, 'a')).toBeNull();
    expect(await retiredSealers(place)).toBe(1);
    expect(await retireSealers(place, 2)).toBe(1);
    const after = await openSealer(place);
    expect([after.open(first, 'a'), after.open(second, 'a')]).toEqual([null, SECRET]);
  });

  it('should put its key file back to mode 600, and refuse a damaged one without showing it', async () => {
    const file = join(folder, 'operator-secrets.key');
    const sealed = (await open()).seal(SECRET, 'totp:ann');
    chmodSync(file, 0o644);
    expect((await open()).open(sealed, 'totp:ann')).toBe(SECRET);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const key = readFileSync(file, 'utf8').trim();
    writeFileSync(file, key.slice(2));
    const failure = await open().catch((error: unknown) => error);
    expect(String(failure)).toContain('operator-secrets.key');
    expect(String(failure)).not.toContain(key.slice(2, 12));
    writeFileSync(file, key);
    expect((await open()).open(sealed, 'totp:ann')).toBe(SECRET);
  });
});
