// When the timers of a sensor's actor are due: what its machine's delays count from, as instants.
import type { SensorContext } from '../../../machines/console/fleet/sensor.rules.ts';
import type { Timer } from './state-chart.tsx';

/** The timers that run in the active states, by path; what was due before the last event fired and was not set anew. */
export function timersOf(
  context: SensorContext,
  active: ReadonlySet<string>,
): ReadonlyMap<string, Timer> {
  const { windows, notAfterMs, freshnessCheckAtMs, knownSinceMs } = context;
  const stale = { dueMs: freshnessCheckAtMs, setMs: freshnessCheckAtMs - windows.stalenessMs };
  const before = (windowMs: number): Timer | null =>
    notAfterMs === null ? null : { dueMs: notAfterMs - windowMs, setMs: knownSinceMs };
  const all: readonly (readonly [string, Timer | null])[] = [
    ['trust.trusted', before(windows.recommendedMs)],
    ['trust.renewal_recommended', before(windows.dueMs)],
    ['freshness.awaiting', stale],
    ['freshness.fresh', stale],
  ];
  return new Map(
    all.flatMap(([path, timer]) =>
      timer !== null && timer.dueMs > context.nowMs && active.has(path)
        ? [[path, timer] as const]
        : [],
    ),
  );
}
