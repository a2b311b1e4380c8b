import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type StartupSnapshot,
  startupMachine,
} from '../../machines/console/runtime/startup.machine.ts';
import { STARTUP_STEPS } from '../../machines/console/runtime/startup.rules.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

describeMachineLaws({
  name: 'startup',
  machine: startupMachine,
  input: fc.constant(undefined),
  events: fc.constant({ type: 'request.received' }),
  outputs: { runStep: fc.constantFrom('done', 'not_configured') },
});

const begin = (): StartupSnapshot => initialTransition(startupMachine)[0];
const step = (snapshot: StartupSnapshot, event: { type: string }): StartupSnapshot =>
  transition(startupMachine, snapshot, event as never)[0];
const done = (name: string) => ({ type: `xstate.done.actor.${name}`, output: 'done' });

describe('startup: rules', () => {
  it('runs the ten steps in order and serves only after all of them', () => {
    let snapshot = begin();
    for (const name of STARTUP_STEPS) {
      expect(snapshot.value).toBe(name);
      snapshot = step(snapshot, done(name));
    }
    expect(snapshot.value).toBe('serving');
    expect(snapshot.context.steps.map(({ step: name }) => name)).toEqual([...STARTUP_STEPS]);
  });

  it('always names the step that failed and why, and never reaches the listener after it', () => {
    fc.assert(
      fc.property(fc.nat(STARTUP_STEPS.length - 1), fc.boolean(), (at, isTimeout) => {
        let snapshot = begin();
        for (const name of STARTUP_STEPS.slice(0, at)) snapshot = step(snapshot, done(name));
        const name = STARTUP_STEPS[at];
        const failure = isTimeout
          ? { type: `xstate.after.stepTimeoutMs.startup.${name}` }
          : { type: `xstate.error.actor.${name}`, error: new Error('no such file') };
        snapshot = step(snapshot, failure);
        expect(snapshot.value).toBe('failed');
        expect(snapshot.context.failedStep).toBe(name);
        expect(snapshot.context.reason).toBe(isTimeout ? 'the step took too long' : 'no such file');
        for (const later of STARTUP_STEPS) snapshot = step(snapshot, done(later));
        expect(snapshot.value).toBe('failed');
      }),
    );
  });
});
