// Which timers of an actor run, and when they are due. A snapshot does not say: the actor's own view of the clock notes
// the instant for each event that XState schedules. By the wall clock; who jumps with it arms anew. decision: D88
import type { AnyMachineSnapshot, AnyStateNode } from 'xstate';
import { activeNodesOf } from './state-value.ts';
import type { WheelClock } from './wheel-clock.ts';

export type RunningTimer = {
  /** Dotted path of the state whose timer it is. */
  readonly state: string;
  readonly delay: string;
  readonly targets: readonly string[];
  readonly dueMs: number;
};
type Scheduled = { readonly id: string };
type System = {
  getSnapshot(): { readonly _scheduledEvents: Readonly<Record<string, Scheduled>> };
};

export type TimerBook = {
  readonly clock: Pick<WheelClock, 'setTimeout' | 'clearTimeout'>;
  /** Called once, before the actor starts. */
  follow(system: System): void;
  /** In the order of the states. */
  running(snapshot: AnyMachineSnapshot): readonly RunningTimer[];
};

/** Makes the book of one root actor; `now` is the wall clock. */
export function createTimerBook(clock: WheelClock, now: () => number): TimerBook {
  const dueMsOf = new WeakMap<Scheduled, number>();
  let system: System | null = null;
  const scheduled = () => Object.values(system?.getSnapshot()._scheduledEvents ?? {});

  return {
    clock: {
      setTimeout(run, delayMs) {
        // XState notes the event right before it sets its timeout, so it is the newest.
        const event = scheduled().at(-1);
        if (event !== undefined) dueMsOf.set(event, now() + delayMs);
        return clock.setTimeout(run, delayMs);
      },
      clearTimeout: (id) => clock.clearTimeout(id),
    },
    follow(own) {
      system = own;
    },
    running(snapshot) {
      const dueBy = new Map(scheduled().map((event) => [event.id, dueMsOf.get(event)]));
      return activeNodesOf(snapshot).flatMap((node) => timersOf(node, dueBy));
    },
  };
}

// Guarded ways of one delay are one timer.
function timersOf(
  node: AnyStateNode,
  dueBy: ReadonlyMap<string, number | undefined>,
): RunningTimer[] {
  return [...Map.groupBy(node.after, ({ eventType }) => eventType)].flatMap(([eventType, ways]) => {
    const dueMs = dueBy.get(eventType);
    const [first] = ways;
    if (dueMs === undefined || first === undefined) return [];
    const targets = ways.flatMap(({ target }) => (target ?? []).map((one) => one.path.join('.')));
    const delay = typeof first.delay === 'function' ? 'computed' : String(first.delay);
    return [{ state: node.path.join('.'), delay, targets: [...new Set(targets)], dueMs }];
  });
}
