// Runs the start-up machine with real steps; a failed one is named with its reason and no later one runs.
// decision: D4; invariant: I14
import { createActor, fromPromise, waitFor } from 'xstate';
import { startupMachine } from '../../machines/console/runtime/startup.machine.ts';
import type {
  StartupStep,
  StepOutcome,
  StepRecord,
} from '../../machines/console/runtime/startup.rules.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';

export type StartupSteps = Readonly<Record<StartupStep, () => Promise<StepOutcome>>>;

export type StartupResult =
  | { readonly ok: true; readonly steps: readonly StepRecord[] }
  | { readonly ok: false; readonly step: StartupStep; readonly reason: string };

/** Runs the ten steps in order; resolves with the step that failed and why, never rejects. */
export async function runStartup(options: {
  readonly steps: StartupSteps;
  readonly clock: WheelClock;
  readonly logger: Logger;
  /** Once it aborts, no further step begins; the one that runs is waited for. */
  readonly givenUp?: AbortSignal | undefined;
}): Promise<StartupResult> {
  const { steps, clock, logger, givenUp } = options;
  const actor = createActor(
    startupMachine.provide({
      actors: {
        runStep: fromPromise<StepOutcome, { step: StartupStep }>(async ({ input }) => {
          if (givenUp?.aborted === true) throw new Error('the start was given up');
          const outcome = await steps[input.step]();
          logger.info({ step: input.step, outcome }, 'start-up step passed');
          return outcome;
        }),
      },
    }),
    { clock: clock as never },
  );
  actor.subscribe({ error: (error) => logger.error({ error: String(error) }, 'start-up failed') });
  actor.start();
  const { context, value } = await waitFor(actor, (snapshot) => snapshot.status !== 'active');
  if (value === 'serving') return { ok: true, steps: context.steps };
  return {
    ok: false,
    step: context.failedStep ?? 'configuration',
    reason: context.reason ?? 'unknown',
  };
}
