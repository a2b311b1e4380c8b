// Runs the first run's machine with a real way to write the configuration. decision: D42
import { createActor, fromPromise, waitFor } from 'xstate';
import { setupMachine } from '../../machines/console/settings/setup.machine.ts';
import type { SetupStep } from '../../machines/console/settings/setup.rules.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';

export type SetupState = {
  readonly state: string;
  readonly done: readonly SetupStep[];
  readonly reason: string | null;
  readonly takesSteps: boolean;
  readonly canFinish: boolean;
};
export type SetupActor = {
  state(): SetupState;
  acceptCode(): void;
  noteDone(step: SetupStep): void;
  noteUndone(step: SetupStep): void;
  /** Writes the configuration; resolves with the state that follows. */
  finish(): Promise<SetupState>;
  /** Resolves when the configuration is written. */
  readonly written: Promise<void>;
  stop(): void;
};

/** Starts the actor; `done` are the steps that were answered before a crash. */
export function startSetupActor(options: {
  readonly done: readonly SetupStep[];
  readonly write: () => Promise<void>;
  readonly clock: WheelClock;
  readonly logger: Logger;
}): SetupActor {
  const { done, write, clock, logger } = options;
  const actor = createActor(
    setupMachine.provide({
      actors: {
        writeConfiguration: fromPromise(async () => {
          await write();
          return undefined;
        }),
      },
    }),
    { input: { done }, clock: clock as never },
  );
  const { promise: written, resolve } = Promise.withResolvers<void>();
  actor.subscribe({
    complete: () => resolve(),
    error: (error) => logger.error({ error: String(error) }, 'the setup failed'),
  });
  actor.start();
  const state = (): SetupState => {
    const snapshot = actor.getSnapshot();
    return {
      state: String(snapshot.value),
      done: snapshot.context.done,
      reason: snapshot.context.reason,
      takesSteps: snapshot.hasTag('takes-steps'),
      canFinish: snapshot.hasTag('can-finish'),
    };
  };
  return {
    state,
    written,
    acceptCode: () => actor.send({ type: 'code.accepted' }),
    noteDone: (step) => actor.send({ type: 'step.done', step }),
    noteUndone: (step) => actor.send({ type: 'step.undone', step }),
    async finish() {
      actor.send({ type: 'finish.requested' });
      await waitFor(actor, (snapshot) => !snapshot.matches('writing'));
      return state();
    },
    stop: () => void actor.stop(),
  };
}
