// A loop as operators see it: its last and its next run, and how often it ran and failed. decision: D60
import Type from 'typebox';
import type { LoopView } from '../../../actors/loops/loop-registry.ts';
import { LOOP_PLACES } from '../../../machines/console/runtime/loop.rules.ts';
import { Nullable, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';

export const LoopShape = Type.Object({
  name: Type.String(),
  runs_on: Type.Enum(LOOP_PLACES, {
    description: 'designated: in one Console of the database; the others say off_duty',
  }),
  every_ms: Type.Integer(),
  state: Type.Enum(['off_duty', 'waiting', 'running', 'stopped']),
  since: Time,
  runs: Type.Integer({ description: 'Runs of this process that ended' }),
  failed_runs: Type.Integer(),
  failures_in_a_row: Type.Integer(),
  last_run: Nullable(
    Type.Object({
      started_at: Time,
      ended_at: Time,
      duration_ms: Type.Number(),
      result: Type.Enum(['done', 'failed']),
      failure: Nullable(Type.String()),
    }),
  ),
  next_run_at: Nullable(Time),
});
export type LoopItem = Type.Static<typeof LoopShape>;

/** The loop on the wire. */
export function loopItem(loop: LoopView): LoopItem {
  const { lastRun } = loop;
  return {
    name: loop.name,
    runs_on: loop.runsOn,
    every_ms: loop.everyMs,
    state: loop.state,
    since: timeText(loop.sinceMs),
    runs: loop.runs,
    failed_runs: loop.failedRuns,
    failures_in_a_row: loop.failures,
    last_run:
      lastRun === null
        ? null
        : {
            started_at: timeText(lastRun.startedAtMs),
            ended_at: timeText(lastRun.endedAtMs),
            duration_ms: Math.round(lastRun.durationMs * 10) / 10,
            result: lastRun.failure === null ? 'done' : 'failed',
            failure: lastRun.failure,
          },
    next_run_at: timeTextOrNull(loop.nextAtMs),
  };
}
