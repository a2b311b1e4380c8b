// Which timers of an actor run, and when they are due. A snapshot does not say: what the scheduler of the actor's system is
// given is noted on its way, with the instant. By the wall clock; who jumps with it arms anew. decision: D88
import type { AnyActorRef, AnyMachineSnapshot, AnyStateNode } from 'xstate';
import { activeNodesOf } from './state-value.ts';
import type { WheelClock } from './wheel-clock.ts';

export type RunningTimer = {
  /** Dotted path of the state whose timer it is. */
  readonly state: string;
  readonly delay: string;
  readonly targets: readonly string[];
  readonly dueMs: number;
};
export type TimerBook = {
  readonly clock: Pick<WheelClock, 'setTimeout' | 'clearTimeout'>;
  /** Called once, before the actor starts. */
  follow(system: Pick<AnyActorRef['system'], 'scheduler'>): void;
  /** In the order of the states. */
  running(snapshot: AnyMachineSnapshot): readonly RunningTimer[];
};

/** Makes the book of one root actor; `now` is the wall clock. */
export function createTimerBook(clock: WheelClock, now: () => number): TimerBook {
  const dueMsOf = new Map<string, number>();
  // Of the event that is being scheduled: the scheduler sets its timeout before it returns.
  let scheduling: string | null = null;

  return {
    clock: {
      setTimeout(run, delayMs) {
        const id = scheduling;
        if (id === null) return clock.setTimeout(run, delayMs);
        dueMsOf.set(id, now() + delayMs);
        return clock.setTimeout(() => {
          dueMsOf.delete(id);
          run();
        }, delayMs);
      },
      clearTimeout: (id) => clock.clearTimeout(id),
    },
    follow({ scheduler }) {
      const { schedule, cancel } = scheduler;
      scheduler.schedule = (source, target, event, delay, id) => {
        scheduling = id ?? null;
        schedule(source, target, event, delay, id);
        scheduling = null;
      };
      scheduler.cancel = (source, id) => {
        dueMsOf.delete(id);
        cancel(source, id);
      };
    },
    running(snapshot) {
      if (dueMsOf.size === 0) return [];
      return activeNodesOf(snapshot).flatMap((node) => timersOf(node, dueMsOf));
    },
  };
}

// Guarded ways of one delay are one timer.
function timersOf(node: AnyStateNode, dueBy: ReadonlyMap<string, number>): RunningTimer[] {
  return [...Map.groupBy(node.after, ({ eventType }) => eventType)].flatMap(([eventType, ways]) => {
    const dueMs = dueBy.get(eventType);
    const [first] = ways;
    if (dueMs === undefined || first === undefined) return [];
    const targets = ways.flatMap(({ target }) => (target ?? []).map((one) => one.path.join('.')));
    const delay = typeof first.delay === 'function' ? 'computed' : String(first.delay);
    return [{ state: node.path.join('.'), delay, targets: [...new Set(targets)], dueMs }];
  });
}
