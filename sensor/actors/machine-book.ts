// What the Sensor's own statecharts do, for its Console. A state counts when it was held for a while: a stream claims and
// settles many times a second, and nobody wants to hear of that. decision: D89
import type { Actor, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { createTimerBook, type TimerBook } from '../../actors/runtime/running-timers.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import { type MachineReport, stateText } from '../../machines/wire/machines.ts';

const HELD_MS = 1_000;

type State = { readonly value: string; readonly sinceMs: number };
type Followed = {
  readonly actor: Actor<AnyStateMachine>;
  readonly timers: TimerBook;
  now: State;
  held: State;
};

export type MachineBook = {
  /** A clock for an actor that will be followed. */
  timersOn(clock: WheelClock): TimerBook;
  /** Until it ends; the newest of a name counts. */
  follow(name: string, actor: Actor<AnyStateMachine>, timers: TimerBook): void;
  reports(): readonly MachineReport[];
};

/** Makes the book; `now` is the wall clock. */
export function createMachineBook(now: () => number): MachineBook {
  const followed = new Map<string, Followed>();

  function settle(own: Followed): void {
    if (own.now !== own.held && now() - own.now.sinceMs >= HELD_MS) own.held = own.now;
  }

  function reportOf(name: string, own: Followed): MachineReport {
    settle(own);
    const { held, timers, actor } = own;
    const dues = timers.running(actor.getSnapshot()).map(({ dueMs }) => dueMs);
    const dueMs = Math.min(...dues);
    return {
      machine: name,
      value: held.value,
      since: timeText(held.sinceMs),
      ...(own.now === held && Number.isFinite(new Date(dueMs).getTime())
        ? { due: timeText(dueMs) }
        : {}),
    };
  }

  return {
    timersOn: (clock) => createTimerBook(clock, now),
    follow(name, actor, timers) {
      const first = { value: stateText(actor.getSnapshot()), sinceMs: now() };
      const own: Followed = { actor, timers, now: first, held: first };
      followed.set(name, own);
      const forget = () => {
        if (followed.get(name) === own) followed.delete(name);
      };
      actor.subscribe({
        next(snapshot: AnyMachineSnapshot) {
          settle(own);
          const value = stateText(snapshot);
          if (value !== own.now.value) own.now = { value, sinceMs: now() };
          // Back where it was before anybody could see that it was gone.
          if (own.now !== own.held && own.now.value === own.held.value) own.now = own.held;
        },
        error: forget,
        complete: forget,
      });
    },
    reports: () => [...followed].map(([name, own]) => reportOf(name, own)),
  };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
