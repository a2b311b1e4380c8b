// A rollout beside what it is: how far it came, whether somebody stopped it, and which way it ends. decision: D90
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { rolloutMachine } from '../../machines/console/policy/rollout.machine.ts';
import { NOTHING_COUNTED, type RolloutPlan } from '../../machines/console/policy/rollout.rules.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move } from './driver.ts';

const WAIT_MS = 60_000;
const RETURN_MS = 15 * 60_000;
type At = 'reaching' | 'watching' | 'asking' | 'paused' | 'halted' | 'returning' | 'over';
type Model = {
  at: At;
  end: 'done' | 'returned' | 'stopped' | null;
  readonly returns: boolean;
  readonly mayReturn: boolean;
  stage: number;
  answered: number | null;
  word: boolean;
  since: number;
};
type Real = Driven<typeof rolloutMachine>;
/** The first stage asks for a word, the second does not, the third is the last. */
const STAGES = [true, false, false];
const PLAN: Omit<RolloutPlan, 'onFailure'> = {
  stages: STAGES.map((needsWord, at) => ({
    ...{ sensorIds: [], percent: [10, 50, 100][at] ?? 100, waitMs: WAIT_MS, needsWord },
  })),
  limits: {
    ...{ rejected: 0, failed: null, silent: 0, stale: 0, engine_restarts: 0, storms: 0, lost: 0 },
  },
  ...{ answerWithinMs: 1_000, stormPerMinute: 1 },
};

function end(model: Model, how: 'done' | 'returned' | 'stopped'): void {
  [model.at, model.end] = ['over', how];
}
function goBack(model: Model, nowMs: number): void {
  [model.at, model.since] = ['returning', nowMs];
}
function resumed(model: Model): void {
  model.at = model.answered === null ? 'reaching' : 'watching';
}

/** What a look finds: how many have it in force, are still asked, refused, and hold the version. */
type Found = { in: number; asked: number; refused: number; holding: number };
const look = (found: Found): Move<Model, Real> => ({
  name: `look(${JSON.stringify(found)})`,
  run(model, real) {
    const nowMs = real.nowMs();
    const tally = {
      ...{ ...NOTHING_COUNTED, touched: 3, inForce: found.in, unanswered: found.asked },
      ...{ rejected: found.refused, failed: 9, holding: found.holding },
    };
    real.send({ type: 'rollout.looked', atMs: nowMs, tally, nextCut: 7 } as never);
    if (model.at === 'returning') {
      if (found.holding === 0 || nowMs - model.since >= RETURN_MS) end(model, 'returned');
      return;
    }
    if (model.at === 'over' || model.at === 'halted') return;
    if (found.refused > 0) {
      if (model.returns && model.mayReturn) goBack(model, nowMs);
      else model.at = 'halted';
      return;
    }
    const isOver = model.answered !== null && nowMs - model.answered >= WAIT_MS && found.in > 0;
    if (model.at === 'reaching' && found.asked === 0 && found.in > 0) {
      [model.at, model.answered] = ['watching', nowMs];
    } else if (model.at === 'watching' && isOver) {
      if (STAGES[model.stage] === true && !model.word) model.at = 'asking';
      else if (model.stage === STAGES.length - 1) end(model, 'done');
      else {
        model.stage += 1;
        [model.at, model.answered, model.word] = ['reaching', null, false];
      }
    }
  },
});
const looks = fc
  .record({
    ...{ in: fc.constantFrom(0, 1, 2), asked: fc.constantFrom(0, 0, 1) },
    ...{ refused: fc.constantFrom(0, 0, 0, 0, 1), holding: fc.constantFrom(0, 1) },
  })
  .map(look);
const good = fc.constant(look({ in: 2, asked: 0, refused: 0, holding: 2 }));
const say = (word: string, then: (model: Model, nowMs: number) => void) =>
  move<Model, Real>(word, (model, real) => {
    real.send({ type: `rollout.${word}`, atMs: real.nowMs() } as never);
    then(model, real.nowMs());
  });
const isRunning = ({ at }: Model) => at === 'reaching' || at === 'watching' || at === 'asking';
const pause = say('pause', (model) => {
  if (isRunning(model)) model.at = 'paused';
});
const resume = say('resume', (model) => {
  if (model.at === 'asking') [model.at, model.word] = ['watching', true];
  else if (model.at === 'paused' || model.at === 'halted') resumed(model);
});
const abort = say('abort', (model, nowMs) => {
  if (!isRunning(model) && model.at !== 'paused' && model.at !== 'halted') return;
  if (model.mayReturn) goBack(model, nowMs);
  else end(model, 'stopped');
});
const wait = fc
  .constantFrom(1_000, WAIT_MS, WAIT_MS, RETURN_MS)
  .map((ms): Move<Model, Real> => ({ name: `wait(${ms})`, run: (_, real) => real.advance(ms) }));

describe('rollout', () => {
  itsMachineAgrees(rolloutMachine, {
    input: fc.record({ returns: fc.boolean(), mayReturn: fc.boolean() }),
    begin({ returns, mayReturn }: { returns: boolean; mayReturn: boolean }) {
      const plan: RolloutPlan = { ...PLAN, onFailure: returns ? 'return' : 'halt' };
      const real = drive(rolloutMachine, { plan, mayReturn, atMs: 1_000, cut: 5 }, 1_000);
      const model: Model = {
        ...{ at: 'reaching', end: null, returns, mayReturn, stage: 0 },
        ...{ answered: null, word: false, since: 0 },
      };
      return { model, real };
    },
    moves: [looks, good, good, good, good, wait, wait, wait, pause, resume, resume, abort],
    agree(model, real) {
      const { value, context } = real.snapshot();
      const at = typeof value === 'object' ? Object.values(value)[0] : value;
      expect(at).toBe(model.end ?? model.at);
      expect(context.stage).toBe(model.stage);
      expect(real.nextTimerMs()).toBeNull();
    },
  });
});
