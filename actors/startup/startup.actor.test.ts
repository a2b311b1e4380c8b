import { describe, expect, it } from 'vitest';
import {
  STARTUP_STEPS,
  type StartupStep,
  type StepOutcome,
} from '../../machines/console/runtime/startup.rules.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createWheelClock } from '../runtime/wheel-clock.ts';
import { runStartup, type StartupSteps } from './startup.actor.ts';

function stepsThat(run: (step: StartupStep) => Promise<StepOutcome>): StartupSteps {
  return Object.fromEntries(STARTUP_STEPS.map((step) => [step, () => run(step)])) as StartupSteps;
}

describe('start-up', () => {
  it('should run every step once, in order', async () => {
    const clock = createWheelClock();
    const ran: string[] = [];
    const steps = stepsThat(async (step) => {
      ran.push(step);
      return step === 'license_trust_anchor' ? 'not_configured' : 'done';
    });
    const result = await runStartup({ steps, clock, logger: silentLogger });
    expect(result).toMatchObject({ ok: true });
    expect(ran).toEqual([...STARTUP_STEPS]);
    clock.stop();
  });

  it('should begin no further step once it is given up, and say so', async () => {
    const clock = createWheelClock();
    const ran: string[] = [];
    const giveUp = new AbortController();
    const steps = stepsThat(async (step) => {
      ran.push(step);
      if (step === 'relational_database') giveUp.abort();
      return 'done';
    });
    const given = { steps, clock, logger: silentLogger, givenUp: giveUp.signal };
    const step = 'license_trust_anchor';
    expect(await runStartup(given)).toEqual({ ok: false, step, reason: 'the start was given up' });
    expect(ran.at(-1)).toBe('relational_database');
    clock.stop();
  });

  it('should name the step that failed and why, and run none after it', async () => {
    const clock = createWheelClock();
    const ran: string[] = [];
    const steps = stepsThat((step) => {
      ran.push(step);
      return step === 'relational_database'
        ? Promise.reject(new Error('the database refuses the password'))
        : Promise.resolve('done');
    });
    expect(await runStartup({ steps, clock, logger: silentLogger })).toEqual({
      ok: false,
      step: 'relational_database',
      reason: 'the database refuses the password',
    });
    expect(ran.at(-1)).toBe('relational_database');
    clock.stop();
  });
});
