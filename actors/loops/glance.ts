// Spares a loop the runs that would find nothing to do: a Console has thirty loops, many of them every second, and most
// of the time nothing waits. At the time of a run the loop glances; only what has to be done is a run. decision: D60
import type { LastRun } from '../../machines/console/runtime/loop.rules.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';

export type Glances = {
  /** For the actor of the loop: what falls due there is asked about first. */
  readonly clock: Pick<WheelClock, 'setTimeout' | 'clearTimeout'>;
  /** Glances that found nothing to do. */
  count(): number;
  /** The last of them; null when a run came after it. */
  last(): LastRun | null;
  /** A run begins. */
  forget(): void;
};

/** Makes the clock of one loop; `isQuiet`: what falls due now is a run, and there is nothing to do. */
export function glancesOf(of: {
  readonly clock: Pick<WheelClock, 'setTimeout' | 'clearTimeout'>;
  readonly now: () => number;
  readonly everyMs: number;
  readonly isQuiet: () => boolean;
}): Glances {
  const { clock, now, everyMs, isQuiet } = of;
  /** What the actor calls its timer, and what is armed for it now. */
  const armed = new Map<number, number>();
  let count = 0;
  let last: LastRun | null = null;

  return {
    clock: {
      setTimeout(run, delayMs) {
        const due = (): void => {
          const atMs = now();
          if (!isQuiet()) {
            armed.delete(id);
            run();
            return;
          }
          count += 1;
          last = { startedAtMs: atMs, endedAtMs: now(), durationMs: 0, failure: null };
          armed.set(id, clock.setTimeout(due, everyMs));
        };
        const id = clock.setTimeout(due, delayMs);
        armed.set(id, id);
        return id;
      },
      clearTimeout(id) {
        clock.clearTimeout(armed.get(id) ?? id);
        armed.delete(id);
      },
    },
    count: () => count,
    last: () => last,
    forget() {
      last = null;
    },
  };
}
