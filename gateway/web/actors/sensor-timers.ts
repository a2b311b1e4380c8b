// The timers of an actor as its chart draws them: by state, with when they began to run.
import type { SensorActor } from '../api/contract.ts';
import type { Timer } from './state-chart.tsx';

/** By path; one without an end is not drawn. `since`: when a state was entered, by path. */
export function timersOf(
  timers: SensorActor['timers'],
  since: ReadonlyMap<string, number>,
): ReadonlyMap<string, Timer> {
  return new Map(
    timers.flatMap(({ state, due }) => {
      if (due === null) return [];
      const dueMs = Date.parse(due);
      return [[state, { dueMs, setMs: Math.min(since.get(state) ?? dueMs, dueMs) }] as const];
    }),
  );
}
