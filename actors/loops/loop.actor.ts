// Runs one loop: each run is the loop's own function, told to end by its signal, and its result is data for the machine.
// decision: D60
import { createActor, fromPromise } from 'xstate';
import {
  type LoopActorRef,
  type LoopSnapshot,
  loopMachine,
} from '../../machines/console/runtime/loop.machine.ts';
import type { LoopOutcome } from '../../machines/console/runtime/loop.rules.ts';
import { LOOP_RUN_TIMEOUT_MS } from '../../machines/console/runtime/loop-limits.ts';
import { reasonOf } from '../../machines/console/runtime/startup.rules.ts';
import { Overtaken } from '../../storage/ports/runtime/designation.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';
import { type Glances, glancesOf } from './glance.ts';
import type { Loop, LoopResult } from './loop.ts';

export type RunningLoop = {
  readonly actor: LoopActorRef;
  /** Resolves when the run that is under way has ended; at once when there is none. */
  idle(): Promise<void>;
  /** Times at which there was nothing to do. */
  readonly glances: Pick<Glances, 'count' | 'last'>;
};

export type LoopDeps = {
  readonly clock: WheelClock;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly logger: Logger;
  /** Of this Console's tenure; null while it is not known to be the designated one. */
  readonly epoch: () => number | null;
  readonly onOvertaken: (reason: string) => void;
};

/** Makes the actor of a loop; it is off duty. */
export function startLoop(loop: Loop, deps: LoopDeps): RunningLoop {
  const { name, runsOn, everyMs, timeoutMs = LOOP_RUN_TIMEOUT_MS } = loop;
  const { logger } = deps;
  let abort = new AbortController();
  let onTheWay: Promise<unknown> = Promise.resolve();
  const isQuiet = (): boolean => hasNothingToDo(loop, actor.getSnapshot());
  const glances = glancesOf({ ...deps, everyMs, isQuiet });

  async function runOnce(stopped: AbortSignal): Promise<LoopOutcome> {
    glances.forget();
    const startedAtMs = deps.now();
    const beganMs = deps.monotonicNow();
    const end = (failure: string | null, hasMore: boolean): LoopOutcome => {
      const durationMs = deps.monotonicNow() - beganMs;
      return { startedAtMs, endedAtMs: deps.now(), durationMs, failure, hasMore };
    };
    abort = new AbortController();
    try {
      const result = await runOf(loop, deps, AbortSignal.any([stopped, abort.signal]));
      return end(null, result?.hasMore === true);
    } catch (error) {
      if (error instanceof Overtaken) deps.onOvertaken(error.message);
      return end(reasonOf(error), false);
    }
  }

  const actor = createActor(
    loopMachine.provide({
      actors: {
        runOnce: fromPromise<LoopOutcome, undefined>(({ signal }) => {
          const run = runOnce(signal);
          onTheWay = run.catch(() => undefined);
          return run;
        }),
      },
      actions: {
        tellRun({ context: { failures } }, { outcome: { failure, durationMs } }) {
          if (failure === null) return logger.debug({ loop: name, durationMs }, 'a loop ran');
          // One that runs every second may fail for hours: the 1st, 2nd, 4th, 8th ... in a row are worth a line.
          const isWorthALine = Number.isInteger(Math.log2(failures));
          return logger[isWorthALine ? 'warn' : 'debug'](
            { loop: name, error: failure, failures },
            'a loop failed',
          );
        },
        tellBroken: (_, { error }) =>
          logger.error({ loop: name, error: String(error) }, 'a loop broke'),
        abortRun(_, { reason }) {
          logger.debug({ loop: name, reason }, 'a loop was told to end');
          abort.abort(new Error(reason));
        },
      },
    }),
    { clock: glances.clock as never, input: { name, runsOn, everyMs, timeoutMs } },
  );
  actor.subscribe({
    error: (error) => logger.error({ loop: name, error: String(error) }, 'a loop ended'),
  });
  actor.start();
  return {
    ...{ actor, glances },
    async idle() {
      await onTheWay;
    },
  };
}

// One that failed, or has not run yet on this duty, runs: what a glance says is for ordinary days.
function hasNothingToDo({ glance }: Loop, snapshot: LoopSnapshot): boolean {
  const { failures, lastRun, nextAtMs } = snapshot.context;
  if (glance === undefined || snapshot.hasTag('running')) return false;
  if (failures > 0 || lastRun === null || nextAtMs === null) return false;
  try {
    return !glance();
  } catch {
    return false; // the run says what is wrong
  }
}

function runOf(loop: Loop, deps: LoopDeps, signal: AbortSignal): Promise<LoopResult> {
  if (loop.runsOn !== 'designated') return loop.run({ signal });
  // After a freeze the timer of a loop may be due before the answer that ends the tenure.
  const epoch = deps.epoch();
  if (epoch === null) throw new Error('this Console is not known to be designated now');
  return loop.run({ signal, epoch });
}
