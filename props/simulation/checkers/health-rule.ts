// The health that a Console shows equals the specification's rule, at every look. The rule is written down here a second
// time, from the specification's words. What the rule is about (dates, errors, silence) is taken from the actor; that
// the actor's facts of identity (that it is there, its dates, its revocation) are those of the registry is judged on
// every Console when the fleet is well again: before, an answer of the database may be on its way. Heartbeats and
// streams are known only to the Console that hears them, so those facts are compared nowhere. Of an identity that changed
// within a second before that, the word may still be on its way.
// Excuse: within a second of the edge of a window the timer of the trust state may still be on its way, and a clock
// that jumped is noticed within a second. A Console that is paused shows nothing to anybody. decision: D14
import { CLOCK_CHECK_INTERVAL_MS, WHEEL_TICK_MS } from '../../../machines/limits.ts';
import type { ConsoleHost, RunningConsole } from '../world/console-host.ts';
import type { CheckerKind, FleetView } from './checker.ts';

export type RawFacts = {
  readonly isRevoked: boolean;
  readonly notAfterMs: number | null;
  readonly lastSeenMs: number;
  readonly isStreamOpen: boolean;
  readonly reported: string | null;
  readonly trustErrorAtMs: number | null;
  readonly connectionErrorAtMs: number | null;
};
type Windows = Pick<
  FleetView['intervals'],
  'RENEWAL_DUE_MS' | 'RENEWAL_RECOMMENDED_MS' | 'STALENESS_WINDOW_MS' | 'TRUST_ERROR_WINDOW_MS'
>;
/** To the other Consoles, which look an identity up once they are told of its change. */
const HEARD_WITHIN_MS = 1_000;
const EDGE_MS = CLOCK_CHECK_INTERVAL_MS + 2 * WHEEL_TICK_MS;

/** The rule: the worst that holds, and the trust state that goes with the dates. */
export function healthByTheBook(facts: RawFacts, w: Windows, nowMs: number): string {
  const leftMs = facts.notAfterMs === null ? Number.POSITIVE_INFINITY : facts.notAfterMs - nowMs;
  const isRecent = (atMs: number | null): boolean =>
    atMs !== null && atMs > nowMs - w.TRUST_ERROR_WINDOW_MS;
  if (facts.isRevoked) return 'revoked';
  if (leftMs <= w.RENEWAL_DUE_MS || isRecent(facts.trustErrorAtMs)) return 'renewal_due';
  if (leftMs <= w.RENEWAL_RECOMMENDED_MS) return 'renewal_recommended';
  const isSilent = !facts.isStreamOpen && facts.lastSeenMs <= nowMs - w.STALENESS_WINDOW_MS;
  // Nothing worse holds, so the Console's own word for the trust is `trusted`.
  const disagrees = facts.reported !== null && facts.reported !== 'trusted';
  return isSilent || disagrees || isRecent(facts.connectionErrorAtMs) ? 'degraded' : 'healthy';
}

export const healthRule: CheckerKind = {
  name: 'health-rule',
  promise: 'Health equals the rule at every instant (D14).',
  make(fleet, report) {
    const { sensors, certificates } = fleet.stores.relational.state;
    const offsets = new Map<string, number>();
    /** When a renewal is due: what the run begins with, and what people set or tried to set. */
    const dueMs = [fleet.intervals.RENEWAL_DUE_MS];
    /** When an identity changed last. */
    const changedAtMs = new Map<string, number>();

    // A check of silence that was armed while the clock was wrong for a moment comes up to two windows late.
    const unsureMs = 2 * fleet.intervals.STALENESS_WINDOW_MS + EDGE_MS;

    /** False while the clock has jumped since the last look. */
    function isSteady({ name, clock }: ConsoleHost): boolean {
      const offset = clock.wallNow() - clock.monotonicNow();
      const before = offsets.get(name);
      offsets.set(name, offset);
      const isNoticed = fleet.world.scheduler.now() - clock.jumpedAtMs() > unsureMs;
      return isNoticed && before !== undefined && Math.abs(offset - before) <= 2;
    }

    function look(host: ConsoleHost, console: RunningConsole, id: string): void {
      const view = console.fleet.directory.ask(id);
      if (view === 'absent') return;
      const { context, value } = view.snapshot;
      const nowMs = host.clock.wallNow();
      const facts: RawFacts = {
        isRevoked: context.revokedAtMs !== null,
        notAfterMs: context.notAfterMs,
        lastSeenMs: context.lastHeartbeatAtMs ?? context.knownSinceMs,
        isStreamOpen: value.stream === 'open',
        reported: context.reportedTrustState,
        trustErrorAtMs: context.lastTrustErrorAtMs,
        connectionErrorAtMs: context.lastConnectionErrorAtMs,
      };
      const expected = dueMs.flatMap((RENEWAL_DUE_MS) => {
        const windows = { ...fleet.intervals, RENEWAL_DUE_MS };
        return [nowMs, nowMs - EDGE_MS, nowMs + EDGE_MS].map((ms) =>
          healthByTheBook(facts, windows, ms),
        );
      });
      const says = console.fleet.sensors.view(id, nowMs)?.health ?? 'nothing';
      const shown = console.fleet.liveView.get(id)?.trust_health ?? 'nothing';
      for (const word of [says, shown]) {
        if (expected.includes(word)) continue;
        report(`${host.name} says ${word} of ${id}, and the rule ${expected[0]}`);
      }
    }

    function lookAtAll(): void {
      for (const host of fleet.consoles) {
        const console = host.running();
        if (!isSteady(host) || console === null || host.isPaused()) continue;
        for (const id of console.fleet.directory.ids()) look(host, console, id);
      }
    }

    function compareFacts(host: ConsoleHost, console: RunningConsole): void {
      for (const row of sensors.values()) {
        const agoMs = fleet.world.scheduler.now() - (changedAtMs.get(row.sensorId) ?? 0);
        if (agoMs < HEARD_WITHIN_MS) continue;
        const view = console.fleet.directory.ask(row.sensorId);
        if (view === 'absent') {
          report(`${host.name} has no actor for ${row.sensorId}`);
          continue;
        }
        const { context } = view.snapshot;
        if ((context.revokedAtMs === null) !== (row.revokedAtMs === null)) {
          report(`${host.name} does not know that ${row.sensorId} is revoked`);
        }
        const current = [...certificates.values()].find(
          (one) => one.sensorId === row.sensorId && one.status === 'current',
        );
        const ends = current?.row.notAfterMs ?? null;
        if (row.revokedAtMs === null && ends !== context.notAfterMs) {
          report(`${host.name} thinks ${row.sensorId} ends at ${context.notAfterMs}, not ${ends}`);
        }
      }
    }

    return {
      probe: lookAtAll,
      observe(observation, atMs) {
        const { kind } = observation;
        if (kind === 'setting.tried' && observation.name === 'renewal_threshold_seconds') {
          dueMs.push(Number(observation.value) * 1_000);
        }
        const isChange =
          kind === 'sensor.enrolled' ||
          kind === 'certificate.activated' ||
          kind === 'sensor.revoked';
        if (isChange) changedAtMs.set(observation.sensor, atMs);
      },
      finish() {
        for (const host of fleet.consoles) {
          const console = host.running();
          if (console !== null) compareFacts(host, console);
        }
      },
    };
  },
};
