import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalBytes, openEnvelope } from '../../actors/license/envelope-signature.ts';
import { isGenuineEd25519 } from '../../actors/runtime/ed25519.ts';
import { isGenuineInTab } from '../../gateway/web/audit/ed25519.ts';
import { policyMessage } from '../../machines/trust/policy-signature.rules.ts';
import { whyNotGenuine } from '../../sensor/engine/policy/signature.ts';
import { licensePayload } from '../attacks/license-issuer.ts';

const { Point } = ed25519;
const SEED = Buffer.alloc(32, 7);
const PUBLIC = ed25519.getPublicKey(SEED);
const MESSAGE = Buffer.from('service-policy-v1:shells\nkind: TracingPolicy\n');
/** A point of order 8. */
const T8 = Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');
const ORDER = Point.Fn.ORDER;

const numberOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
const bytesOf = (value: bigint) =>
  Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
const modOrder = (value: bigint) => ((value % ORDER) + ORDER) % ORDER;

/** A signature whose R, or the key it is checked with, carries a component of small order. */
function crafted(where: 'R' | 'A', times: number, message: Uint8Array = MESSAGE) {
  const { scalar, point } = ed25519.utils.getExtendedPublicKey(SEED);
  const small = T8.multiplyUnsafe(BigInt(times));
  const r = 123_456_789n;
  const R = (where === 'R' ? Point.BASE.multiply(r).add(small) : Point.BASE.multiply(r)).toBytes();
  const A = (where === 'A' ? point.add(small) : point).toBytes();
  const k = numberOf(createHash('sha512').update(R).update(A).update(message).digest());
  const s = modOrder(r + modOrder(k) * scalar);
  return { signature: Buffer.concat([R, bytesOf(s)]), key: A };
}

function opensslTakes(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) {
  const x = Buffer.from(publicKey).toString('base64url');
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, message, key, signature);
  } catch {
    return false;
  }
}

describe.each([
  ['both programs', isGenuineEd25519],
  ['the page', isGenuineInTab],
])('an Ed25519 signature, judged by %s', (_where, isGenuine) => {
  it('should be taken when it is what RFC 8032 makes', () => {
    const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), SEED]);
    const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
    expect(isGenuine(sign(null, MESSAGE, key), MESSAGE, PUBLIC)).toBe(true);
    expect(isGenuine(ed25519.sign(MESSAGE, SEED), MESSAGE, PUBLIC)).toBe(true);
  });

  it.each([1, 2, 3, 4, 5, 6, 7])(
    'should be refused when R carries %s times a point of order 8, which noble alone would take',
    (times) => {
      const { signature, key } = crafted('R', times);
      expect(ed25519.verify(signature, MESSAGE, key, { zip215: false })).toBe(true);
      expect(opensslTakes(signature, MESSAGE, key)).toBe(false);
      expect(isGenuine(signature, MESSAGE, key)).toBe(false);
    },
  );

  it.each([1, 3, 5, 7])(
    'should be taken under a key with %s times it only if all take it',
    (times) => {
      const { signature, key } = crafted('A', times);
      expect(isGenuine(signature, MESSAGE, key)).toBe(
        opensslTakes(signature, MESSAGE, key) &&
          ed25519.verify(signature, MESSAGE, key, { zip215: false }),
      );
    },
  );

  it('should be refused under keys of small order, whatever it signs', () => {
    const zero = Buffer.concat([Point.ZERO.toBytes(), Buffer.alloc(32)]);
    for (let times = 0n; times < 8n; times += 1n) {
      const key = times === 0n ? Point.ZERO.toBytes() : T8.multiplyUnsafe(times).toBytes();
      expect(isGenuine(zero, MESSAGE, key)).toBe(false);
    }
  });

  it('should be refused when any bit of it, of the message or of the key is another', () => {
    const good = ed25519.sign(MESSAGE, SEED);
    const flipped = (bytes: Uint8Array, bit: number) => {
      const copy = Buffer.from(bytes);
      const at = (bit >> 3) % copy.length;
      copy[at] = (copy[at] ?? 0) ^ (1 << (bit & 7));
      return copy;
    };
    fc.assert(
      fc.property(
        fc.nat({ max: 4_095 }),
        fc.constantFrom('signature', 'message', 'key'),
        (bit, what) => {
          expect(
            isGenuine(
              what === 'signature' ? flipped(good, bit) : good,
              what === 'message' ? flipped(MESSAGE, bit) : MESSAGE,
              what === 'key' ? flipped(PUBLIC, bit) : PUBLIC,
            ),
          ).toBe(false);
        },
      ),
    );
  });

  it('should be refused when its scalar is not reduced, or it has another length', () => {
    const good = Buffer.from(ed25519.sign(MESSAGE, SEED));
    const s = numberOf(good.subarray(32)) + ORDER;
    expect(isGenuine(Buffer.concat([good.subarray(0, 32), bytesOf(s)]), MESSAGE, PUBLIC)).toBe(
      false,
    );
    expect(isGenuine(good.subarray(1), MESSAGE, PUBLIC)).toBe(false);
    expect(isGenuine(good, MESSAGE, PUBLIC.subarray(1))).toBe(false);
  });
});

describe('a signature whose R carries a point of order 8', () => {
  it('should bring no license into force', () => {
    const payload = licensePayload(Date.parse('2026-03-01T12:00:00.000Z'));
    const bytes = canonicalBytes(payload) ?? MESSAGE;
    const envelopeOf = (signature: Uint8Array) => ({
      ...{ schema_version: 1, signature_algorithm: 'ED25519', payload },
      signature: Buffer.from(signature).toString('base64'),
    });
    expect(openEnvelope(envelopeOf(ed25519.sign(bytes, SEED)), PUBLIC).ok).toBe(true);
    const { signature } = crafted('R', 1, bytes);
    expect(ed25519.verify(signature, bytes, PUBLIC, { zip215: false })).toBe(true);
    expect(openEnvelope(envelopeOf(signature), PUBLIC)).toMatchObject({ code: 'license_refused' });
  });

  it('should bring no policy onto a node', async () => {
    const yaml = Buffer.from('kind: TracingPolicy\n');
    const bytes = policyMessage('shells', yaml);
    const x = Buffer.from(PUBLIC).toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const keyPem = key.export({ format: 'pem', type: 'spki' }).toString();
    const why = (signature: Uint8Array) => {
      const sidecar = Buffer.from(signature).toString('base64');
      return whyNotGenuine({ name: 'shells', yaml, sidecar, keyPem });
    };
    expect(await why(ed25519.sign(bytes, SEED))).toBeUndefined();
    const { signature } = crafted('R', 1, bytes);
    expect(ed25519.verify(signature, bytes, PUBLIC, { zip215: false })).toBe(true);
    expect(await why(signature)).toMatch(/^the signature is not by policy-signing.pub/);
  });
});
