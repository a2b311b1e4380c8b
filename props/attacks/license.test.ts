// Attacks on a license: every byte of the bundle changed in every bit, the signature bent into other spellings, another
// key, more fields, other algorithms. None of them may count. decision: D32
import { Buffer } from 'node:buffer';
import { createPublicKey, verify as verifyByNode } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalBytes,
  openEnvelope,
  openEnvelopeText,
  signLicense,
} from '../../actors/license/envelope-signature.ts';
import { LICENSE_BODY_MAX_BYTES } from '../../machines/limits.ts';
import type { LicensePayload } from '../../machines/wire/license.ts';
import { createIssuer, licensePayload } from './license-issuer.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');
const issuer = createIssuer();
const envelope = issuer.sign(licensePayload(NOW_MS, { plan: 'Füße "\\ \u2028' }));
const text = JSON.stringify(envelope);
const opened = (value: string | Uint8Array) =>
  openEnvelopeText(Buffer.from(value).toString('utf8'), issuer.publicKey);

describe('a license bundle', () => {
  it('should count as it was issued, in any order of fields and with any white space', () => {
    expect(opened(text)).toMatchObject({ ok: true, facts: { licenseId: 'license-1' } });
    const { payload } = envelope;
    const turned = Object.fromEntries(Object.entries(payload).reverse());
    expect(opened(JSON.stringify({ ...envelope, payload: turned }, null, 3)).ok).toBe(true);
  });

  it('should be what any other implementation of Ed25519 and RFC 8785 signs', () => {
    const { payload, signature } = envelope;
    const sorted = Object.fromEntries(Object.entries(payload).sort(([a], [b]) => (a < b ? -1 : 1)));
    const bytes = Buffer.from(JSON.stringify(sorted));
    expect(Buffer.from(canonicalBytes(payload) ?? []).equals(bytes)).toBe(true);
    const x = Buffer.from(issuer.publicKey).toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    expect(verifyByNode(null, bytes, key, Buffer.from(signature, 'base64'))).toBe(true);
  });

  it('should be refused with any one bit changed, wherever it lies', () => {
    const bytes = Buffer.from(text);
    const taken: string[] = [];
    for (let at = 0; at < bytes.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        if (opened(changed).ok) taken.push(`${at}.${bit}`);
      }
    }
    expect(taken).toEqual([]);
  });

  it('should be refused with any byte gone or doubled', () => {
    const taken: number[] = [];
    for (let at = 0; at < text.length; at += 1) {
      const gone = text.slice(0, at) + text.slice(at + 1);
      const doubled = text.slice(0, at + 1) + text.slice(at);
      if (opened(gone).ok || opened(doubled).ok) taken.push(at);
    }
    expect(taken).toEqual([]);
  });

  it('should be refused with any field of the payload changed, removed or added', () => {
    const { payload } = envelope;
    for (const name of Object.keys(payload) as (keyof LicensePayload)[]) {
      const { [name]: value, ...rest } = payload;
      const other = typeof value === 'number' ? value + 1 : `${value}0`;
      for (const bent of [rest, { ...payload, [name]: other }, { ...payload, [name]: null }]) {
        expect([name, openEnvelope({ ...envelope, payload: bent }, issuer.publicKey).ok]).toEqual([
          name,
          false,
        ]);
      }
    }
    const more = { ...envelope, payload: { ...payload, features: ['all'] } };
    expect(openEnvelope(more, issuer.publicKey)).toMatchObject({ code: 'schema_violation' });
  });

  it.each([
    ['another schema', { schema_version: 2 }],
    ['no algorithm', { signature_algorithm: 'NONE' }],
    ['another spelling', { signature_algorithm: 'ed25519' }],
    ['more fields', { key_id: 'mine' }],
    ['no signature', { signature: '' }],
    ['a short signature', { signature: Buffer.alloc(63).toString('base64') }],
    ['a signature of nothing', { signature: Buffer.alloc(64).toString('base64') }],
    ['a signature in base64url', { signature: envelope.signature.replace(/=+$/, '') }],
    ['a padded signature', { signature: `${envelope.signature}=` }],
  ])('should be refused with %s', (_name, bent) => {
    expect(openEnvelope({ ...envelope, ...bent }, issuer.publicKey).ok).toBe(false);
  });

  it('should be refused with a second spelling of its signature', () => {
    const bytes = Buffer.from(envelope.signature, 'base64');
    // S + L is the same number for a lax verifier.
    let s = 0n;
    for (let at = 63; at >= 32; at -= 1) s = (s << 8n) + BigInt(bytes[at] ?? 0);
    s += ed25519.Point.Fn.ORDER;
    for (let at = 32; at < 64; at += 1) {
      bytes[at] = Number(s & 0xffn);
      s >>= 8n;
    }
    const bent = { ...envelope, signature: bytes.toString('base64') };
    expect(openEnvelope(bent, issuer.publicKey)).toMatchObject({ code: 'license_refused' });
  });

  it('should be refused by every other key', () => {
    const other = createIssuer();
    expect(openEnvelope(envelope, other.publicKey)).toMatchObject({ code: 'license_refused' });
    expect(openEnvelope(other.sign(envelope.payload), issuer.publicKey).ok).toBe(false);
    expect(openEnvelope(envelope, new Uint8Array(32)).ok).toBe(false);
  });

  it('should be refused when it is no license at all, without a fault', () => {
    for (const value of [null, [], {}, 7, 'x', { payload: {} }, [[envelope]]]) {
      expect(openEnvelope(value, issuer.publicKey).ok).toBe(false);
    }
    fc.assert(
      fc.property(fc.json(), (some) => {
        expect(opened(some).ok).toBe(false);
      }),
      { numRuns: 300 },
    );
    expect(opened(text.padEnd(LICENSE_BODY_MAX_BYTES + 1))).toMatchObject({
      code: 'body_too_large',
    });
    const half = licensePayload(NOW_MS, { plan: 'a\ud83d' });
    expect(signLicense(half, issuer.secretKey)).toMatchObject({ code: 'schema_violation' });
    expect(openEnvelope({ ...envelope, payload: half }, issuer.publicKey).ok).toBe(false);
  });
});
