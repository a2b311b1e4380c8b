// Why a sensor has the health it has: the very rules of the Console, run here on the facts of its live actor, each reason
// with its own facts and since when.
import type { SensorContext } from '../../../machines/console/fleet/sensor.rules.ts';
import { healthFactsOf } from '../../../machines/console/fleet/sensor.rules.ts';
import {
  type HealthReason,
  type TrustRegionState,
  trustHealth,
} from '../../../machines/trust/health.rules.ts';
import type { TrustHealth } from '../../../machines/wire/heartbeat.ts';

export type Reason = {
  readonly code: HealthReason;
  readonly sinceMs: number | null;
  readonly facts: readonly (readonly [name: string, atMs: number | null, text: string | null])[];
};
export type Why = { readonly health: TrustHealth; readonly reasons: readonly Reason[] };

/** The health at an instant with every reason of it. */
export function whyOf(context: SensorContext, trust: TrustRegionState, nowMs: number): Why {
  const { health, because } = trustHealth(healthFactsOf(context, trust), context.windows, nowMs);
  return { health, reasons: because.map((code) => reasonOf(code, context)) };
}

function reasonOf(code: HealthReason, context: SensorContext): Reason {
  const { windows, notAfterMs, lastHeartbeatAtMs, knownSinceMs } = context;
  const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;
  const ends = ['certificate ends', notAfterMs, null] as const;
  switch (code) {
    case 'revoked':
      return { code, sinceMs: context.revokedAtMs, facts: [] };
    case 'certificate_expired':
      return { code, sinceMs: notAfterMs, facts: [ends] };
    case 'certificate_due':
      return { code, sinceMs: openedAt(notAfterMs, windows.dueMs), facts: [ends] };
    case 'certificate_recommended':
      return { code, sinceMs: openedAt(notAfterMs, windows.recommendedMs), facts: [ends] };
    case 'trust_error_recent':
      return { code, sinceMs: context.lastTrustErrorAtMs, facts: [] };
    case 'connection_error_recent':
      return { code, sinceMs: context.lastConnectionErrorAtMs, facts: [] };
    case 'trust_state_disagrees':
      return { code, sinceMs: null, facts: [['reported', null, context.reportedTrustState]] };
    case 'heartbeat_stale': {
      const seenMs = lastHeartbeatAtMs ?? knownSinceMs;
      const none = lastHeartbeatAtMs === null ? 'none' : null;
      return {
        ...{ code, sinceMs: seenMs + windows.stalenessMs },
        facts: [
          ['last heartbeat', lastHeartbeatAtMs, none],
          ['window', null, seconds(windows.stalenessMs)],
          ['stream', null, context.streamOpen ? 'open' : 'none'],
        ],
      };
    }
  }
}

function openedAt(notAfterMs: number | null, windowMs: number): number | null {
  return notAfterMs === null ? null : notAfterMs - windowMs;
}
