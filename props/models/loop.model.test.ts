// A loop beside a small model: on duty or not, whether a run is under way, and whether another is wanted. decision: D60
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { loopMachine } from '../../machines/console/runtime/loop.machine.ts';
import {
  LOOP_RETRY_MAX_MS,
  LOOP_RETRY_MIN_MS,
} from '../../machines/console/runtime/loop-limits.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move, timeMoves } from './driver.ts';

type Model = {
  duty: boolean;
  run: 'none' | 'in_time' | 'told_to_end';
  isStopped: boolean;
  isWanted: boolean;
  failures: number;
  waitMs: number;
  elapsedMs: number;
};
type Real = Driven<typeof loopMachine>;

const EVERY_MS = 5_000;
const TIMEOUT_MS = 700;

function rest(model: Model, waitMs: number): void {
  model.run = 'none';
  model.waitMs = waitMs;
  model.elapsedMs = 0;
}
function begin(model: Model): void {
  model.run = 'in_time';
  model.elapsedMs = 0;
}
function end(model: Model, { isFailed, hasMore }: { isFailed: boolean; hasMore: boolean }): void {
  if (model.run === 'none' || model.isStopped) return;
  model.failures = isFailed ? model.failures + 1 : 0;
  const retryMs = Math.min(
    LOOP_RETRY_MAX_MS,
    EVERY_MS,
    LOOP_RETRY_MIN_MS * 2 ** (model.failures - 1),
  );
  rest(model, isFailed ? retryMs : hasMore || model.isWanted ? 0 : EVERY_MS);
  model.isWanted = false;
}

const ended = fc.record({ isFailed: fc.boolean(), hasMore: fc.boolean() }).map(
  (how): Move<Model, Real> => ({
    name: `ended(${how.isFailed ? 'failed' : 'done'}, ${how.hasMore ? 'more' : 'all'})`,
    run(model, real) {
      real.done('runOnce', {
        ...{ startedAtMs: 0, endedAtMs: 0, durationMs: 0, hasMore: how.hasMore },
        failure: how.isFailed ? 'away' : null,
      });
      end(model, how);
    },
  }),
);
const broke = move<Model, Real>('broke', (model, real) => {
  real.fail('runOnce');
  end(model, { isFailed: true, hasMore: false });
});
const onDuty = move<Model, Real>('on duty', (model, real) => {
  real.send({ type: 'loop.on_duty' });
  if (model.isStopped || model.duty) return;
  model.duty = true;
  if (model.run === 'none') rest(model, 0);
});
const offDuty = move<Model, Real>('off duty', (model, real) => {
  real.send({ type: 'loop.off_duty' });
  if (model.isStopped) return;
  model.duty = false;
  if (model.run !== 'none') model.run = 'told_to_end';
});
const runNow = move<Model, Real>('run now', (model, real) => {
  real.send({ type: 'loop.run_now' });
  if (model.isStopped) return;
  if (model.run !== 'none') model.isWanted = true;
  else if (model.duty) begin(model);
});
const stop = move<Model, Real>('stop', (model, real) => {
  real.send({ type: 'loop.stop' });
  model.isStopped = true;
});
const time = timeMoves<Model, typeof loopMachine>((model, { ms, isDue }) => {
  model.elapsedMs += ms;
  if (!isDue) return;
  if (model.run === 'in_time') model.run = 'told_to_end';
  else if (model.duty && model.run === 'none') begin(model);
});

function stateOf({ isStopped, run, duty }: Model): unknown {
  if (isStopped) return 'stopped';
  if (run === 'none') return duty ? 'waiting' : 'off_duty';
  return { running: run === 'in_time' ? 'in_time' : duty ? 'overdue' : 'leaving' };
}

describe('loop', () => {
  itsMachineAgrees(loopMachine, {
    input: fc.constant(undefined),
    begin: () => ({
      model: {
        ...{ duty: false, run: 'none', isStopped: false, isWanted: false },
        ...{ failures: 0, waitMs: 0, elapsedMs: 0 },
      } as Model,
      real: drive(loopMachine, {
        ...{ name: 'sweep', runsOn: 'process', everyMs: EVERY_MS, timeoutMs: TIMEOUT_MS },
      }),
    }),
    moves: [
      ended,
      ended,
      broke,
      onDuty,
      offDuty,
      fc.oneof({ weight: 1, arbitrary: stop }, { weight: 9, arbitrary: runNow }),
      time,
      time,
    ],
    agree(model, real) {
      expect(real.snapshot().value).toEqual(stateOf(model));
      expect(real.running()).toEqual(model.run === 'none' || model.isStopped ? [] : ['runOnce']);
      const isWaiting = model.duty && model.run === 'none';
      const leftMs = isWaiting ? model.waitMs : model.run === 'in_time' ? TIMEOUT_MS : null;
      expect(real.nextTimerMs()).toBe(
        leftMs === null || model.isStopped ? null : leftMs - model.elapsedMs,
      );
    },
  });
});
