// Trust health: a pure function of facts and now, with the facts that produced it. Precedence: revoked > renewal_due >
// renewal_recommended > degraded > healthy. decision: D14
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
  readonly trustState: TrustRegionState;
  readonly lastTrustErrorAtMs: number | null;
  readonly lastConnectionErrorAtMs: number | null;
};

export type HealthWindows = {
  readonly recommendedMs: number;
  readonly dueMs: number;
  readonly trustErrorMs: number;
  readonly stalenessMs: number;
};

export type HealthReason =
  | 'revoked'
  | 'certificate_expired'
  | 'certificate_due'
  | 'trust_error_recent'
  | 'certificate_recommended'
  | 'heartbeat_stale'
  | 'trust_state_disagrees'
  | 'connection_error_recent';

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
  if (facts.revokedAtMs !== null) return { health: 'revoked', because: ['revoked'] };
  const due = dueReasons(facts, windows, nowMs);
  if (due.length > 0) return { health: 'renewal_due', because: due };
  if (windowOf(facts, windows, nowMs) === 'renewal_recommended') {
    return { health: 'renewal_recommended', because: ['certificate_recommended'] };
  }
  const degraded = degradedReasons(facts, windows, nowMs);
  if (degraded.length > 0) return { health: 'degraded', because: degraded };
  return { health: 'healthy', because: [] };
}

function windowOf(facts: HealthFacts, windows: HealthWindows, nowMs: number) {
  return facts.notAfterMs === null ? 'ok' : renewalWindow(facts.notAfterMs, nowMs, windows);
}

function dueReasons(facts: HealthFacts, windows: HealthWindows, nowMs: number): HealthReason[] {
  const reasons: HealthReason[] = [];
  if (facts.notAfterMs !== null && nowMs >= facts.notAfterMs) reasons.push('certificate_expired');
  else if (windowOf(facts, windows, nowMs) === 'renewal_due') reasons.push('certificate_due');
  if (isWithin(facts.lastTrustErrorAtMs, windows.trustErrorMs, nowMs)) {
    reasons.push('trust_error_recent');
  }
  return reasons;
}

function degradedReasons(
  facts: HealthFacts,
  windows: HealthWindows,
  nowMs: number,
): HealthReason[] {
  const reasons: HealthReason[] = [];
  const seenAtMs = facts.lastHeartbeatAtMs ?? facts.knownSinceMs;
  if (!facts.streamOpen && nowMs - seenAtMs >= windows.stalenessMs) reasons.push('heartbeat_stale');
  if (
    facts.reportedTrustState !== null &&
    facts.reportedTrustState !== WIRE_TRUST_STATE[facts.trustState]
  ) {
    reasons.push('trust_state_disagrees');
  }
  if (isWithin(facts.lastConnectionErrorAtMs, windows.trustErrorMs, nowMs)) {
    reasons.push('connection_error_recent');
  }
  return reasons;
}

function isWithin(atMs: number | null, windowMs: number, nowMs: number): boolean {
  return atMs !== null && nowMs - atMs < windowMs;
}
