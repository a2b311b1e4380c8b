// Runs the choice between the shared counter and this Console's own: looks through the port, one line of log for each
// change, and an answer to whoever counts. decision: D41
import { createActor, fromPromise } from 'xstate';
import {
  type RateLimitsActorRef,
  rateLimitsMachine,
} from '../../machines/console/access/rate-limits.machine.ts';
import type { SharedCounter } from '../../storage/ports/access/shared-counter.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';

export type RateLimits = {
  readonly actor: RateLimitsActorRef;
  /** Whether to count in the shared counter now. */
  countsTogether(): boolean;
  /** How often the counter was lost. */
  falls(): number;
  /** Says that a count failed: from now on this Console counts by itself. */
  failed(error: unknown): void;
  stop(): void;
};

/** Starts with a look at once. */
export function startRateLimits(deps: {
  readonly counter: Pick<SharedCounter, 'look' | 'onLost'>;
  readonly clock: WheelClock;
  readonly logger: Logger;
}): RateLimits {
  const { counter, logger } = deps;
  const actor = createActor(
    rateLimitsMachine.provide({
      actors: { look: fromPromise<void, undefined>(() => counter.look()) },
      actions: {
        tellShared: () => logger.info('request budgets are shared with the other Consoles'),
        tellApart: (_, { reason }) =>
          logger.warn({ reason }, 'request budgets are counted by this Console alone'),
      },
    }),
    { clock: deps.clock as never },
  );
  actor.subscribe({
    error: (error) => logger.error({ error: String(error) }, 'the choice of budgets failed'),
  });
  const tell = (reason: string): void => {
    if (actor.getSnapshot().status === 'active') actor.send({ type: 'count.failed', reason });
  };
  counter.onLost(tell);
  actor.start();
  return {
    actor,
    countsTogether: () => actor.getSnapshot().hasTag('counts-together'),
    falls: () => actor.getSnapshot().context.falls,
    failed: (error) => tell(error instanceof Error ? error.message : String(error)),
    stop() {
      if (actor.getSnapshot().status === 'active') actor.send({ type: 'limits.stop' });
    },
  };
}
