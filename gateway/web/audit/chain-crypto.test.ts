// The browser's arithmetic against the Console's own, and the lines of an export however its bytes are cut.
import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkpointBytes,
  fingerprintOfKey,
  hashOfRow,
  isSignedCheckpoint,
} from '../../../actors/audit/audit-hash.ts';
import { maskSecrets } from '../../../machines/trust/audit-mask.rules.ts';
import { anyCharacter } from '../../../props/any-character.ts';
import { BROWSER_CRYPTO } from './chain-crypto.ts';
import { lineSplitter } from './line-splitter.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicKeyPem = String(publicKey.export({ format: 'pem', type: 'spki' }));
const text = fc.string({ unit: 'grapheme' });
const facts = fc
  .dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue())
  .map((value) => maskSecrets(value));
const rows = fc.record({
  ...{ auditId: fc.nat(), atMs: fc.integer(), actor: text, action: text, target: text },
  ...{ result: text, detail: facts, from: fc.option(text), before: fc.option(facts) },
  after: fc.option(facts),
});
const hash = 'ab'.repeat(32);

describe('what a browser computes', () => {
  it('always is the hash that the Console computes', () => {
    fc.assert(
      fc.property(rows, fc.nat(), (row, sequence) => {
        const place = { sequence, hash };
        expect(BROWSER_CRYPTO.hashOf(row, place)).toBe(hashOfRow(row, place));
      }),
    );
  });

  it('always believes the signatures that the Console believes, and no other', () => {
    const one = { sequence: 7, hash, atMs: 5 };
    const signature = sign(null, checkpointBytes(one), privateKey).toString('base64');
    const good = { ...one, publicKeyPem, signature };
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    for (const [checkpoint, is] of [
      [good, true],
      [{ ...good, atMs: 6 }, false],
      [{ ...good, sequence: 8 }, false],
      [{ ...good, publicKeyPem: '' }, false],
      [{ ...good, signature: 'AAAA' }, false],
      [{ ...good, signature: '~' }, false],
      [{ ...good, publicKeyPem: String(rsa.export({ format: 'pem', type: 'spki' })) }, false],
    ] as const) {
      expect(isSignedCheckpoint(checkpoint)).toBe(is);
      expect(BROWSER_CRYPTO.isSigned(checkpoint)).toBe(is);
    }
    expect(BROWSER_CRYPTO.fingerprintOf(publicKeyPem)).toBe(fingerprintOfKey(publicKeyPem));
  });
});

describe('the lines of an export', () => {
  it('always are the same, wherever its bytes are cut', () => {
    const line = fc.string({ unit: 'grapheme' }).map((one) => one.replaceAll('\n', ''));
    fc.assert(
      fc.property(
        fc.array(line),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (all, cuts) => {
          const bytes = new TextEncoder().encode(all.map((one) => `${one}\n`).join(''));
          const found: string[] = [];
          const splitter = lineSplitter((one) => found.push(one));
          for (let at = 0; at < bytes.length; ) {
            const size = cuts.next().value;
            splitter.push(bytes.slice(at, at + size));
            at += size;
          }
          splitter.end();
          // A mark of the byte order at the very beginning is none of the text.
          expect(found).toEqual(
            all.map((one, at) => (at === 0 ? one.replace(/^\ufeff/, '') : one)),
          );
        },
      ),
    );
  });
});
