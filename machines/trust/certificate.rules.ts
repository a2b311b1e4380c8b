// Whether a presented certificate is accepted now. Asked on every request and every frame, because a TLS session and a
// keep-alive socket outlive the certificate that opened them. invariant: I3, I4, I9; decision: D10
import type { ErrorCode } from '../errors.ts';

export type CertificateFacts = {
  readonly status: 'pending' | 'current' | 'previous' | 'ended';
  readonly notAfterMs: number;
  readonly supersededAtMs: number | null;
  readonly sensorRevokedAtMs: number | null;
};

export type CertificateVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: Extract<
        ErrorCode,
        'certificate_unknown' | 'sensor_revoked' | 'certificate_expired' | 'certificate_superseded'
      >;
    };

/** Judges one certificate at one instant. `notAfter` itself is already too late; so is the overlap's last instant. */
export function judgeCertificate(
  facts: CertificateFacts | undefined,
  nowMs: number,
  overlapMs: number,
): CertificateVerdict {
  if (facts === undefined) return { ok: false, code: 'certificate_unknown' };
  if (facts.sensorRevokedAtMs !== null) return { ok: false, code: 'sensor_revoked' };
  if (facts.status === 'ended') return { ok: false, code: 'certificate_superseded' };
  if (nowMs >= facts.notAfterMs) return { ok: false, code: 'certificate_expired' };
  if (facts.status === 'previous' && !isInsideOverlap(facts.supersededAtMs, nowMs, overlapMs)) {
    return { ok: false, code: 'certificate_superseded' };
  }
  return { ok: true };
}

/** Whether a superseded certificate is still inside its overlap. */
export function isInsideOverlap(
  supersededAtMs: number | null,
  nowMs: number,
  overlapMs: number,
): boolean {
  return supersededAtMs !== null && nowMs < supersededAtMs + overlapMs;
}

/** Only the current certificate may renew, and only while it is accepted. */
export function mayRenew(facts: CertificateFacts): boolean {
  return facts.status === 'current';
}

export type RenewalWindow = 'ok' | 'renewal_recommended' | 'renewal_due';

/** Which renewal window an expiry lies in; the window includes its own edge. */
export function renewalWindow(
  notAfterMs: number,
  nowMs: number,
  windows: { readonly recommendedMs: number; readonly dueMs: number },
): RenewalWindow {
  const leftMs = notAfterMs - nowMs;
  if (leftMs <= windows.dueMs) return 'renewal_due';
  return leftMs <= windows.recommendedMs ? 'renewal_recommended' : 'ok';
}
