// The rules of the per-sensor machine: which trust state an expiry means, how long until the next look, what a report
// says about engine and policy. All pure; time arrives as milliseconds.

import { CLOCK_CHECK_INTERVAL_MS } from '../../limits.ts';
import { renewalWindow } from '../../trust/certificate.rules.ts';
import type { HealthFacts, TrustRegionState } from '../../trust/health.rules.ts';
import type { EngineState, WireTrustState } from '../../wire/heartbeat.ts';
import type { ContainmentFacts, OrderFacts, ReportFacts } from './sensor-containment.rules.ts';

export type SensorWindows = {
  readonly recommendedMs: number;
  readonly dueMs: number;
  readonly trustErrorMs: number;
  readonly stalenessMs: number;
};

export type SensorContext = {
  readonly sensorId: string;
  readonly nowMs: number;
  readonly knownSinceMs: number;
  readonly notAfterMs: number | null;
  readonly revokedAtMs: number | null;
  readonly lastHeartbeatAtMs: number | null;
  /** When freshness is looked at next. */
  readonly freshnessCheckAtMs: number;
  readonly streamOpen: boolean;
  readonly reportedTrustState: WireTrustState | null;
  /** The first heartbeat known here that reported it. */
  readonly reportedSinceMs: number | null;
  readonly lastTrustErrorAtMs: number | null;
  readonly lastConnectionErrorAtMs: number | null;
  readonly windows: SensorWindows;
  readonly containment: ContainmentFacts;
};

/** An engine as it is reported, or one that runs and lacks what every engine is to see. decision: D52 */
export type SeenEngine = EngineState | 'degraded';

export type SensorInput = Omit<
  SensorContext,
  'freshnessCheckAtMs' | 'streamOpen' | 'knownSinceMs' | 'reportedSinceMs' | 'containment'
> & {
  readonly knownSinceMs: number;
  /** Absent: nobody ever ordered, and the node said nothing. */
  readonly containment?: ContainmentFacts;
  readonly engineState: SeenEngine | null;
};

export type HeartbeatReceived = {
  readonly type: 'heartbeat.received';
  readonly atMs: number;
  readonly reportedTrustState: WireTrustState;
  readonly lastTrustErrorAtMs: number | null;
  readonly lastConnectionErrorAtMs: number | null;
  readonly engineState: SeenEngine;
};

/** What a sensor says of its policy pack. */
export type PolicyReport = 'pending' | 'in_force' | 'rejected' | 'failed' | 'unassigned';
export type SensorEvent =
  | HeartbeatReceived
  | { type: 'stream.opened'; atMs: number }
  | { type: 'stream.closed'; atMs: number; reason: string }
  | { type: 'certificate.changed'; atMs: number; notAfterMs: number }
  | { type: 'sensor.revoked'; atMs: number; reason: string }
  | { type: 'clock.jumped'; atMs: number; byMs: number }
  | { type: 'windows.changed'; atMs: number; dueMs: number }
  | { type: 'policy.assigned'; atMs: number }
  | { type: 'policy.reported'; atMs: number; state: PolicyReport }
  | { type: 'containment.ordered'; atMs: number; order: OrderFacts }
  | { type: 'containment.reported'; atMs: number; report: ReportFacts };

/** The trust state an expiry means at an instant; without a certificate nothing is near. */
export function trustStateAt(context: SensorContext): Exclude<TrustRegionState, 'revoked'> {
  if (context.notAfterMs === null) return 'trusted';
  const window = renewalWindow(context.notAfterMs, context.nowMs, context.windows);
  return window === 'ok' ? 'trusted' : window;
}

/** Milliseconds until a window before expiry opens; never negative. */
export function untilWindowMs(context: SensorContext, windowMs: number): number {
  if (context.notAfterMs === null) return Number.MAX_SAFE_INTEGER;
  return Math.max(0, context.notAfterMs - windowMs - context.nowMs);
}

/** What a heartbeat teaches. */
export function heardOf(
  { reportedTrustState, reportedSinceMs }: SensorContext,
  beat: HeartbeatReceived,
): Partial<SensorContext> {
  const isRepeated = beat.reportedTrustState === reportedTrustState;
  return {
    nowMs: beat.atMs,
    lastHeartbeatAtMs: beat.atMs,
    reportedTrustState: beat.reportedTrustState,
    reportedSinceMs: isRepeated ? reportedSinceMs : beat.atMs,
    lastTrustErrorAtMs: beat.lastTrustErrorAtMs,
    lastConnectionErrorAtMs: beat.lastConnectionErrorAtMs,
  };
}

/** The instant from which silence counts. */
export function lastSeenMs(
  context: Pick<SensorContext, 'lastHeartbeatAtMs' | 'knownSinceMs'>,
): number {
  return context.lastHeartbeatAtMs ?? context.knownSinceMs;
}

/** Milliseconds until silence is staleness; never negative, and never longer than the window, whatever the clock said. */
export function untilStaleMs(context: SensorContext): number {
  const { stalenessMs } = context.windows;
  const leftMs = lastSeenMs(context) + stalenessMs - context.nowMs;
  return Math.min(stalenessMs, Math.max(0, leftMs));
}

/**
 * A sign of life by the wall clock after its jump. What was heard between the jump and its notice bears the new time
 * already: a forward jump would carry it into the future, and a backward one is held to be so when it is that young.
 */
export function movedWithClock(heardAtMs: number, jump: { atMs: number; byMs: number }): number {
  const { atMs, byMs } = jump;
  const isNew =
    byMs > 0
      ? heardAtMs + byMs > atMs
      : heardAtMs <= atMs && heardAtMs > atMs - CLOCK_CHECK_INTERVAL_MS;
  return isNew ? heardAtMs : heardAtMs + byMs;
}

/** What a report says of the engine. */
export function engineSeen(
  state: EngineState,
  hooks: readonly { readonly missing?: boolean | undefined }[] = [],
): SeenEngine {
  const isDegraded = state === 'running' && hooks.some(({ missing }) => missing === true);
  return isDegraded ? 'degraded' : state;
}

/** What the engine region shows for a reported engine state. */
export function engineRegionOf(
  state: SeenEngine | null,
): 'unknown' | 'running' | 'degraded' | 'down' {
  if (state === null) return 'unknown';
  return state === 'running' || state === 'degraded' ? state : 'down';
}

/** The facts of a snapshot that health is computed from. */
export function healthFactsOf(context: SensorContext): HealthFacts {
  return {
    revokedAtMs: context.revokedAtMs,
    notAfterMs: context.notAfterMs,
    lastHeartbeatAtMs: context.lastHeartbeatAtMs,
    knownSinceMs: context.knownSinceMs,
    streamOpen: context.streamOpen,
    reportedTrustState: context.reportedTrustState,
    reportedSinceMs: context.reportedSinceMs,
    lastTrustErrorAtMs: context.lastTrustErrorAtMs,
    lastConnectionErrorAtMs: context.lastConnectionErrorAtMs,
  };
}

/**
 * Whether an event left facts that a look back would miss: any but the time of the last sign of life and of now, which
 * each heartbeat moves and the stored heartbeats tell. decision: D88
 */
export function hasNewFacts(before: SensorContext, after: SensorContext): boolean {
  return (
    before.freshnessCheckAtMs !== after.freshnessCheckAtMs ||
    before.reportedTrustState !== after.reportedTrustState ||
    before.reportedSinceMs !== after.reportedSinceMs ||
    before.lastTrustErrorAtMs !== after.lastTrustErrorAtMs ||
    before.lastConnectionErrorAtMs !== after.lastConnectionErrorAtMs ||
    before.notAfterMs !== after.notAfterMs ||
    before.revokedAtMs !== after.revokedAtMs ||
    before.knownSinceMs !== after.knownSinceMs ||
    before.streamOpen !== after.streamOpen ||
    before.containment !== after.containment ||
    before.windows !== after.windows
  );
}
