// An exercise has a result once its window is over and what was on its way had time to arrive, and it says of every step
// that was missed where it was lost. decision: D146; invariant: I8
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ExerciseEvent,
  exerciseMachine,
} from '../../machines/console/hunting/exercise.machine.ts';
import {
  exerciseAfter,
  newExercise,
  resultOfStep,
  scoreOf,
} from '../../machines/console/hunting/exercise.ts';
import { parseCondition } from '../../machines/detection/condition-parser.ts';
import { conditionText } from '../../machines/detection/condition-text.ts';
import {
  conditionOfStep,
  EXERCISE_STEPS,
  exerciseStep,
  shellOfStep,
} from '../../machines/detection/exercise-steps.ts';
import { predicateOf } from '../../machines/detection/predicate.ts';
import { EXERCISE_SETTLE_MS } from '../../machines/limits.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import { describeMachineLaws } from './laws.ts';

const WINDOW_MS = 60_000;
const atMs = fc.integer({ min: 0, max: 3 * WINDOW_MS });
const at = (type: ExerciseEvent['type']) => fc.record({ type: fc.constant(type), atMs });
const event = fc.oneof(
  at('exercise.started'),
  at('exercise.ended'),
  at('exercise.looked_at'),
  at('exercise.scored'),
  { weight: 1, arbitrary: fc.constant({ type: 'exercise.abandoned' }) },
) as fc.Arbitrary<ExerciseEvent>;

describeMachineLaws({
  name: 'exercise',
  machine: exerciseMachine,
  input: fc.constant({ windowMs: WINDOW_MS }),
  events: event,
});

describe('an exercise', () => {
  it('never is scored before its window ended and settled, and never moves afterwards', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        let standing = newExercise(WINDOW_MS);
        for (const one of events) {
          const next = exerciseAfter(standing, one);
          if (standing.state === 'scored' || standing.state === 'abandoned') {
            expect(next).toBeNull();
          }
          standing = next ?? standing;
          const { state, startedAtMs, endsAtMs, scoredAtMs } = standing;
          expect(scoredAtMs !== null).toBe(state === 'scored');
          if (startedAtMs !== null && endsAtMs !== null) {
            expect(endsAtMs).toBeGreaterThanOrEqual(startedAtMs);
            expect(endsAtMs).toBeLessThanOrEqual(startedAtMs + WINDOW_MS);
          }
          if (scoredAtMs !== null) {
            expect(scoredAtMs).toBeGreaterThanOrEqual((endsAtMs ?? 0) + EXERCISE_SETTLE_MS);
          }
        }
      }),
    );
  });
});

describe('the result of a step', () => {
  const found = fc.record({
    events: fc.nat({ max: 5 }),
    firstObservedAtMs: fc.option(fc.nat()),
    firstReceivedAtMs: fc.option(fc.nat()),
    detectedAtMs: fc.option(fc.nat()),
    isDelivered: fc.boolean(),
  });
  const detection = fc.constantFrom(
    { by: 'event' as const },
    { by: 'rule' as const, ruleId: 'r' },
    { by: 'policy' as const, name: 'p' },
  );

  it('always is seen or says where it was lost, never both, and never is seen without events', () => {
    fc.assert(
      fc.property(found, detection, (one, expected) => {
        const step = { step: 'whoami', technique: 'T1033', detection: expected };
        const result = resultOfStep(step, 's', one);
        expect(result.isSeen).toBe(result.miss === null);
        if (result.isSeen) expect(one.events).toBeGreaterThan(0);
        else expect(result.detectedAfterMs).toBeNull();
        if (result.miss === 'not_matched') expect(one.events).toBeGreaterThan(0);
        if (result.miss === 'not_collected') expect(one.isDelivered).toBe(true);
        expect(result.detectedAfterMs ?? 0).toBeGreaterThanOrEqual(0);
        const { expected: all, seen } = scoreOf([result]);
        expect([all, seen]).toEqual([1, result.isSeen ? 1 : 0]);
      }),
    );
  });
});

describe('the library of steps', () => {
  it('always has at least 15 steps, each with its technique and a name of its own', () => {
    expect(EXERCISE_STEPS.length).toBeGreaterThanOrEqual(15);
    expect(new Set(EXERCISE_STEPS.map(({ step }) => step)).size).toBe(EXERCISE_STEPS.length);
    for (const { step, technique, tactic, title } of EXERCISE_STEPS) {
      expect(step).toMatch(/^[a-z][a-z-]{2,40}$/);
      expect(technique).toMatch(/^T\d{4}(\.\d{3})?$/);
      expect(tactic).toMatch(/^[a-z-]+$/);
      expect(title.length).toBeGreaterThan(5);
      expect(exerciseStep(step)?.step).toBe(step);
    }
  });

  it('never writes outside its own folder, reaches another machine, or needs more rights', () => {
    for (const { script } of EXERCISE_STEPS) {
      expect(script).not.toMatch(/\b(sudo|su|curl|wget|nc|ssh|kill|mount|insmod|iptables|dd)\b/);
      for (const [, target = ''] of script.matchAll(/>+\s*("?\S+)/g)) {
        expect(target).toMatch(/^"?\$DIR\//);
      }
      for (const [, path = ''] of script.matchAll(
        /\b(?:rm -f|touch(?: -d \S+)?|chmod \d+) (\S+)/g,
      )) {
        expect(path).toMatch(/^"?\$DIR\//);
      }
    }
  });

  it('always is found by its mark: the shell, what it starts, and what that starts', () => {
    for (const one of EXERCISE_STEPS) {
      const isOfStep = predicateOf(conditionOfStep(one.step));
      const shell = process(shellOfStep(one, 'abc').join(' '));
      const child = process('-a');
      expect(isOfStep(told({ process: shell }))).toBe(true);
      expect(isOfStep(told({ process: child, parent: shell }))).toBe(true);
      const far = { process: child, parent: child, ancestors: [shell] };
      expect(isOfStep(told(far))).toBe(true);
      expect(isOfStep(told({ process: child, parent: child }))).toBe(false);
      const others = EXERCISE_STEPS.filter(({ step }) => step !== one.step);
      for (const { step } of others) {
        expect(predicateOf(conditionOfStep(step))(told({ process: shell }))).toBe(false);
      }
      expect(parseCondition(conditionText(conditionOfStep(one.step))).ok).toBe(true);
    }
  });
});

function process(words: string) {
  return { exec_id: 'x', pid: 1, binary: '/bin/sh', arguments: words };
}

function told(more: Partial<StoredEvent>): StoredEvent {
  return {
    ...{ event_id: 'e', schema_version: 1, observed_at: '', event_kind: 'process_exec' },
    ...{ severity: 'info', message: '', sensor_id: 's', node_name: 'n', received_at: '' },
    ...more,
  };
}
