// Trust health: a pure function of facts and now, with the facts that produced it. Precedence: revoked > renewal_due >
// renewal_recommended > degraded > healthy. decision: D14
import { SECOND_MS } from '../units.ts';
import type { TrustHealth, WireTrustState } from '../wire/heartbeat.ts';
import { renewalWindow } from './certificate.rules.ts';

export type TrustRegionState = 'trusted' | 'renewal_recommended' | 'renewal_due' | 'revoked';

export type HealthFacts = {
  readonly revokedAtMs: number | null;
  /** Expiry of the current certificate; null only before one exists. */
  readonly notAfterMs: number | null;
  readonly lastHeartbeatAtMs: number | null;
  /** When the record came to be; staleness counts from here before the first heartbeat. */
  readonly knownSinceMs: number;
  readonly streamOpen: boolean;
  readonly reportedTrustState: WireTrustState | null;
  /** Since when it has been reporting that; as far back as this Console knows. */
  readonly reportedSinceMs: number | null;
  readonly lastTrustErrorAtMs: number | null;
  readonly lastConnectionErrorAtMs: number | null;
};

export type HealthWindows = {
  readonly recommendedMs: number;
  readonly dueMs: number;
  readonly trustErrorMs: number;
  readonly stalenessMs: number;
};

export const HEALTH_REASONS = [
  'revoked',
  'certificate_expired',
  'certificate_due',
  'trust_error_recent',
  'certificate_recommended',
  'heartbeat_stale',
  'trust_state_disagrees',
  'connection_error_recent',
] as const;
export type HealthReasonCode = (typeof HEALTH_REASONS)[number];

/** A reason with what it was concluded from. Names of facts that end in `_at` hold instants in milliseconds. */
export type HealthReason = {
  readonly code: HealthReasonCode;
  /** When it began to hold; null where nobody can know. */
  readonly sinceMs: number | null;
  readonly facts: Readonly<Record<string, number | string | boolean | null>>;
};

export type Health = { readonly health: TrustHealth; readonly because: readonly HealthReason[] };

/** The one table between the machine's words and the wire's. */
export const WIRE_TRUST_STATE: Readonly<Record<TrustRegionState, WireTrustState>> = {
  trusted: 'trusted',
  renewal_recommended: 'renewal_recommended',
  renewal_due: 'renewal_due',
  revoked: 'trust_revoked',
};

/** Health at one instant, with every reason of the level that won. */
export function trustHealth(facts: HealthFacts, windows: HealthWindows, nowMs: number): Health {
  const { revokedAtMs } = facts;
  if (revokedAtMs !== null) {
    const revoked = reason('revoked', revokedAtMs, { revoked_at: revokedAtMs });
    return { health: 'revoked', because: [revoked] };
  }
  const due = dueReasons(facts, windows, nowMs);
  if (due.length > 0) return { health: 'renewal_due', because: due };
  if (windowOf(facts, windows, nowMs) === 'renewal_recommended') {
    const recommended = windowReason('certificate_recommended', facts, windows.recommendedMs);
    return { health: 'renewal_recommended', because: [recommended] };
  }
  const degraded = degradedReasons(facts, windows, nowMs);
  if (degraded.length > 0) return { health: 'degraded', because: degraded };
  return { health: 'healthy', because: [] };
}

/** Whether two lists tell the same, so that nobody has to be told anew. */
export function isSameBecause(a: readonly HealthReason[], b: readonly HealthReason[]): boolean {
  return a.length === b.length && a.every((one, index) => isSameReason(one, b[index]));
}

function isSameReason(a: HealthReason, b: HealthReason | undefined): boolean {
  if (b === undefined || a.code !== b.code || a.sinceMs !== b.sinceMs) return false;
  return Object.entries(a.facts).every(([name, value]) => b.facts[name] === value);
}

function reason(
  code: HealthReasonCode,
  sinceMs: number | null,
  facts: HealthReason['facts'],
): HealthReason {
  return { code, sinceMs, facts };
}

function windowOf(facts: HealthFacts, windows: HealthWindows, nowMs: number) {
  return facts.notAfterMs === null ? 'ok' : renewalWindow(facts.notAfterMs, nowMs, windows);
}

function windowReason(
  code: 'certificate_due' | 'certificate_recommended',
  { notAfterMs }: HealthFacts,
  windowMs: number,
): HealthReason {
  const facts = { certificate_expires_at: notAfterMs, window_seconds: windowMs / SECOND_MS };
  return reason(code, openedAtMs(notAfterMs, windowMs), facts);
}

function openedAtMs(notAfterMs: number | null, windowMs: number): number | null {
  return notAfterMs === null ? null : notAfterMs - windowMs;
}

function dueReasons(facts: HealthFacts, windows: HealthWindows, nowMs: number): HealthReason[] {
  const reasons: HealthReason[] = [];
  const { notAfterMs, lastTrustErrorAtMs } = facts;
  if (notAfterMs !== null && nowMs >= notAfterMs) {
    const told = { certificate_expires_at: notAfterMs };
    reasons.push(reason('certificate_expired', notAfterMs, told));
  } else if (windowOf(facts, windows, nowMs) === 'renewal_due') {
    reasons.push(windowReason('certificate_due', facts, windows.dueMs));
  }
  if (isWithin(lastTrustErrorAtMs, windows.trustErrorMs, nowMs)) {
    const told = {
      last_trust_error_at: lastTrustErrorAtMs,
      window_seconds: windows.trustErrorMs / SECOND_MS,
    };
    reasons.push(reason('trust_error_recent', lastTrustErrorAtMs, told));
  }
  return reasons;
}

function degradedReasons(
  facts: HealthFacts,
  windows: HealthWindows,
  nowMs: number,
): HealthReason[] {
  const reasons: HealthReason[] = [];
  const { lastHeartbeatAtMs, lastConnectionErrorAtMs, streamOpen } = facts;
  const seenAtMs = lastHeartbeatAtMs ?? facts.knownSinceMs;
  if (!streamOpen && nowMs - seenAtMs >= windows.stalenessMs) {
    const told = {
      last_heartbeat_at: lastHeartbeatAtMs,
      ...(lastHeartbeatAtMs === null ? { known_since_at: facts.knownSinceMs } : {}),
      window_seconds: windows.stalenessMs / SECOND_MS,
      stream: 'closed',
    };
    reasons.push(reason('heartbeat_stale', seenAtMs + windows.stalenessMs, told));
  }
  const { reportedTrustState: reported } = facts;
  // Nothing worse holds, so `trusted` is what the dates say here. The statechart may be a tick ahead of the clock.
  const expected = WIRE_TRUST_STATE.trusted;
  if (reported !== null && reported !== expected) {
    const told = { reported_trust_state: reported, console_trust_state: expected };
    reasons.push(reason('trust_state_disagrees', facts.reportedSinceMs, told));
  }
  if (isWithin(lastConnectionErrorAtMs, windows.trustErrorMs, nowMs)) {
    const told = {
      last_connection_error_at: lastConnectionErrorAtMs,
      window_seconds: windows.trustErrorMs / SECOND_MS,
    };
    reasons.push(reason('connection_error_recent', lastConnectionErrorAtMs, told));
  }
  return reasons;
}

function isWithin(atMs: number | null, windowMs: number, nowMs: number): boolean {
  return atMs !== null && nowMs - atMs < windowMs;
}
