import { describe, expect, it } from 'vitest';
import { type CertificateFacts, isInsideOverlap, judgeCertificate } from './certificate.rules.ts';

const END_MS = 1_000;
const OVERLAP_MS = 100;
const CURRENT: CertificateFacts = {
  status: 'current',
  notAfterMs: END_MS,
  supersededAtMs: null,
  sensorRevokedAtMs: null,
};
const refused = (code: string) => ({ ok: false, code });
const judge = (facts: Partial<CertificateFacts>, nowMs: number) =>
  judgeCertificate({ ...CURRENT, ...facts }, nowMs, OVERLAP_MS);

describe('judgeCertificate', () => {
  it('should accept a current or pending certificate until the instant before its end', () => {
    for (const status of ['current', 'pending'] as const) {
      expect(judge({ status }, END_MS - 1)).toEqual({ ok: true });
      expect(judge({ status }, END_MS)).toEqual(refused('certificate_expired'));
    }
  });

  it('should refuse an ended certificate as superseded, expired or not', () => {
    for (const nowMs of [0, END_MS]) {
      expect(judge({ status: 'ended' }, nowMs)).toEqual(refused('certificate_superseded'));
    }
  });

  it('should refuse a previous certificate of which nobody knows since when', () => {
    expect(judge({ status: 'previous' }, 0)).toEqual(refused('certificate_superseded'));
    expect(isInsideOverlap(null, 0, OVERLAP_MS)).toBe(false);
  });
});
