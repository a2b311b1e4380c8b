import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_INTERVALS, resolveIntervals } from '../../machines/intervals.ts';
import { INTERVALS } from '../../machines/limits.ts';
import {
  type CertificateFacts,
  judgeCertificate,
  mayRenew,
  renewalWindow,
} from '../../machines/trust/certificate.rules.ts';
import {
  formatSecret,
  kindOfSecret,
  SECRET_PREFIXES,
  SECRET_RANDOM_BYTES,
} from '../../machines/trust/secret.rules.ts';

const OVERLAP_MS = DEFAULT_INTERVALS.PREVIOUS_CERTIFICATE_OVERLAP_MS;
const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const facts: fc.Arbitrary<CertificateFacts> = fc.record({
  status: fc.constantFrom('pending', 'current', 'previous', 'ended'),
  notAfterMs: time,
  supersededAtMs: fc.option(time, { nil: null }),
  sensorRevokedAtMs: fc.option(time, { nil: null, freq: 4 }),
});

describe('certificate: rules', () => {
  it('accepts the previous certificate for exactly 24 h', () => {
    fc.assert(
      fc.property(time, (supersededAtMs) => {
        const previous: CertificateFacts = {
          status: 'previous',
          notAfterMs: supersededAtMs + 2 * OVERLAP_MS,
          supersededAtMs,
          sensorRevokedAtMs: null,
        };
        const at = (ms: number) => judgeCertificate(previous, ms, OVERLAP_MS);
        expect(at(supersededAtMs + OVERLAP_MS - 1)).toEqual({ ok: true });
        expect(at(supersededAtMs + OVERLAP_MS)).toEqual({
          ok: false,
          code: 'certificate_superseded',
        });
      }),
    );
  });

  it('never accepts anything of a revoked sensor, an ended certificate or an unknown one', () => {
    fc.assert(
      fc.property(facts, time, (given, nowMs) => {
        const verdict = judgeCertificate(given, nowMs, OVERLAP_MS);
        if (given.sensorRevokedAtMs !== null)
          expect(verdict).toEqual({ ok: false, code: 'sensor_revoked' });
        else if (given.status === 'ended' || nowMs >= given.notAfterMs)
          expect(verdict.ok).toBe(false);
      }),
    );
    expect(judgeCertificate(undefined, 0, OVERLAP_MS)).toEqual({
      ok: false,
      code: 'certificate_unknown',
    });
  });

  it('lets only the current certificate renew', () => {
    fc.assert(
      fc.property(facts, (given) => {
        expect(mayRenew(given)).toBe(given.status === 'current');
      }),
    );
  });

  it('opens the windows at exactly 72 h and 24 h', () => {
    const windows = {
      recommendedMs: DEFAULT_INTERVALS.RENEWAL_RECOMMENDED_MS,
      dueMs: DEFAULT_INTERVALS.RENEWAL_DUE_MS,
    };
    const end = 4_000_000_000;
    expect(renewalWindow(end, end - windows.recommendedMs - 1, windows)).toBe('ok');
    expect(renewalWindow(end, end - windows.recommendedMs, windows)).toBe('renewal_recommended');
    expect(renewalWindow(end, end - windows.dueMs - 1, windows)).toBe('renewal_recommended');
    expect(renewalWindow(end, end - windows.dueMs, windows)).toBe('renewal_due');
    expect(renewalWindow(end, end + 1, windows)).toBe('renewal_due');
  });
});

describe('secrets', () => {
  const random = fc.uint8Array({ minLength: SECRET_RANDOM_BYTES, maxLength: SECRET_RANDOM_BYTES });
  const kinds = fc.constantFrom('enrollment' as const, 'reenrollment' as const, 'apiKey' as const);

  it('always recognise their own kind', () => {
    fc.assert(
      fc.property(kinds, random, (kind, bytes) => {
        const secret = formatSecret(kind, bytes);
        expect(secret).toMatch(/^svc[erk]_[0-9A-Za-z]{49}$/);
        expect(secret.startsWith(SECRET_PREFIXES[kind])).toBe(true);
        expect(kindOfSecret(secret)).toBe(kind);
      }),
    );
  });

  it('never recognise a secret with one character changed, nor arbitrary text', () => {
    fc.assert(
      fc.property(kinds, random, fc.nat(53), fc.constantFrom(...'0Az'), (kind, bytes, at, char) => {
        const secret = formatSecret(kind, bytes);
        const changed = secret.slice(0, at) + char + secret.slice(at + 1);
        if (changed !== secret) expect(kindOfSecret(changed)).toBeNull();
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(kindOfSecret(text)).toBeNull();
      }),
    );
  });
});

describe('intervals', () => {
  it('report every mistake at once and never accept a broken relation', () => {
    const result = resolveIntervals({
      NO_SUCH: 1,
      STREAM_TICK_MS: 'soon',
      STALENESS_WINDOW_MS: 1_000,
    });
    expect(result.ok).toBe(false);
    expect(!result.ok && result.mistakes.length).toBe(3);
    expect(resolveIntervals({ RENEWAL_DUE_MS: INTERVALS.RENEWAL_RECOMMENDED_MS }).ok).toBe(false);
    expect(resolveIntervals().ok).toBe(true);
  });
});
