// The first run: nothing is taken before the code, nothing is written before every needed step, and what was done is never
// forgotten. decision: D42
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SetupEvent, setupMachine } from '../../machines/console/settings/setup.machine.ts';
import {
  mayDo,
  mayUndo,
  NEEDED_STEPS,
  nextStep,
  SETUP_STEPS,
  type SetupStep,
  soundSteps,
} from '../../machines/console/settings/setup.rules.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const step = fc.constantFrom(...SETUP_STEPS);
const steps = fc.subarray([...SETUP_STEPS]);
const input = fc.record({ done: steps });
const events: fc.Arbitrary<SetupEvent> = fc.oneof(
  fc.record({ type: fc.constant('code.accepted' as const) }),
  fc.record({ type: fc.constant('step.done' as const), step }),
  fc.record({ type: fc.constant('step.done' as const), step }),
  fc.record({ type: fc.constant('step.undone' as const), step }),
  fc.record({ type: fc.constant('finish.requested' as const) }),
);

describeMachineLaws({ name: 'setup', machine: setupMachine, input, events });

describe('setup: machine', () => {
  it('always asks for the first needed step that is missing, and only finishes without one', () => {
    fc.assert(
      fc.property(input, fc.array(events, { maxLength: 40 }), (start, moves) => {
        let [snapshot] = initialTransition(setupMachine, start);
        let isUnlocked = false;
        for (const event of moves) {
          const { done } = snapshot.context;
          const before = snapshot;
          [snapshot] = transition(setupMachine, snapshot, event);
          if (event.type === 'code.accepted') isUnlocked = true;
          if (!isUnlocked) expect(snapshot.value).toBe('awaiting_code');
          if (before.value === 'writing') expect(snapshot).toBe(before);
          const { value, context } = snapshot;
          if (value !== 'awaiting_code' && value !== 'writing') {
            expect(value).toBe(nextStep(context.done) ?? 'ready');
          }
          if (value === 'writing')
            expect(NEEDED_STEPS.every((one) => done.includes(one))).toBe(true);
          expect(snapshot.hasTag('can-finish')).toBe(value === 'ready');
          expect(soundSteps(context.done)).toEqual(context.done);
          for (const one of NEEDED_STEPS) {
            if (done.includes(one)) expect(context.done).toContain(one);
          }
        }
      }),
    );
  });

  it('always goes on where it was when writing failed, and says why', () => {
    let [snapshot] = initialTransition(setupMachine, { done: [...SETUP_STEPS] });
    const send = (event: object) => {
      [snapshot] = transition(setupMachine, snapshot, event as SetupEvent);
    };
    send({ type: 'code.accepted' });
    send({ type: 'finish.requested' });
    send({ type: 'xstate.error.actor.writeConfiguration', error: new Error('the disk is full') });
    expect([snapshot.value, snapshot.context.reason]).toEqual(['ready', 'the disk is full']);
    send({ type: 'finish.requested' });
    expect(snapshot.context.reason).toBeNull();
    send({ type: 'xstate.done.actor.writeConfiguration' });
    expect([snapshot.value, snapshot.status]).toEqual(['restarting', 'done']);
  });
});

describe('setup: rules', () => {
  it('always let every needed step be done in its order, and any optional one after the platform', () => {
    const done: SetupStep[] = [];
    for (let next = nextStep(done); next !== null; next = nextStep(done)) {
      expect(mayDo(next, done)).toBe(true);
      done.push(next);
    }
    expect(done).toEqual(NEEDED_STEPS);
    for (const one of SETUP_STEPS) {
      expect(mayDo(one, [])).toBe(one === 'platform');
      expect(mayUndo(one)).toBe(!(NEEDED_STEPS as readonly SetupStep[]).includes(one));
      expect(mayDo(one, ['platform'])).toBe(one !== 'analytics');
    }
  });

  it('never keep a claimed step that could not have been done', () => {
    fc.assert(
      fc.property(steps, (claimed) => {
        const sound = soundSteps(claimed);
        expect(soundSteps(sound)).toEqual(sound);
        for (const one of sound) expect(mayDo(one, sound)).toBe(true);
        if (!claimed.includes('platform')) expect(sound).toEqual([]);
      }),
    );
  });
});
