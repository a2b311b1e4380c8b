// One life of a simulated process, from its start to its end. Everything a process does to the outside goes through its
// life: when it ends (SIGKILL, power cut), timers are dropped and what was asked for is never answered, just as nothing
// is left of a real process to hear it. A life can be told to end before or after its n-th call.
//
// It can also be paused, as by SIGSTOP: it gets no turn, while its clocks go on. What is due or comes meanwhile waits, and
// is run when it goes on: all timers, then all that came, or the other way round, as an event loop takes them up.
import type { ScheduledTimer, Scheduler } from './scheduler.ts';

export type Life = {
  /** `node-3` or `console-1`, and which start this is. */
  readonly host: string;
  readonly incarnation: number;
  isAlive(): boolean;
  /** Calls to the outside so far. */
  calls(): number;
  /** A timer of the process: runs later unless the life has ended by then. */
  after(delayMs: number, run: () => void): ScheduledTimer;
  /** Something from outside comes to the process: at once, or when it goes on. Nobody hears it after the end. */
  hear(run: () => void): void;
  /** The same, after a while. */
  arrive(delayMs: number, run: () => void): void;
  /** No turn from now on, until what is given back is called; it answers whether that was the last hold. */
  pause(first: TakenFirst): () => boolean;
  /** Also while it takes up what has waited. */
  isPaused(): boolean;
  /**
   * A call to the outside: the effect happens after `delayMs` (at once when 0), its value or error comes back. Never
   * settles when the life ends first; the effect may have happened all the same.
   */
  call<T>(name: string, effect: () => T, delayMs?: number): Promise<T>;
  /** Ends the life before or after the n-th call from now. */
  endAtCall(calls: number, when: 'before' | 'after', end: () => void): void;
  /** Told once at the end. */
  onEnd(run: () => void): void;
  end(): void;
};

/** What a process that goes on takes up first. */
export type TakenFirst = 'timers' | 'words';
type Waiting = { readonly isTimer: boolean; readonly run: () => void };

type Ambush = { atCall: number; readonly when: 'before' | 'after'; readonly end: () => void };

/** Begins a life. */
export function beginLife(
  scheduler: Scheduler,
  of: { readonly host: string; readonly incarnation: number },
): Life {
  const listeners: (() => void)[] = [];
  let alive = true;
  let calls = 0;
  let ambush: Ambush | null = null;
  let pauses = 0;
  let waiting: Waiting[] = [];
  let isTakingUp = false;

  function wait(isTimer: boolean, run: () => void): void {
    waiting.push({ isTimer, run });
  }

  const mustWait = (): boolean => pauses > 0 || isTakingUp;

  /** One after the other, each to its end; what comes meanwhile comes behind them. */
  function takeUp(): void {
    if (!alive || pauses > 0) {
      isTakingUp = false;
      return;
    }
    const next = waiting.shift();
    isTakingUp = next !== undefined;
    if (next === undefined) return;
    scheduler.after(0, takeUp);
    next.run();
  }

  function goOn(first: TakenFirst): boolean {
    pauses -= 1;
    if (pauses > 0 || !alive) return false;
    const isFirst = ({ isTimer }: Waiting): boolean => isTimer === (first === 'timers');
    waiting = [...waiting.filter(isFirst), ...waiting.filter((one) => !isFirst(one))];
    if (!isTakingUp) scheduler.after(0, takeUp);
    isTakingUp = true;
    return true;
  }

  function isAmbushed(when: Ambush['when']): boolean {
    if (ambush === null || ambush.when !== when || calls < ambush.atCall) return false;
    const { end } = ambush;
    ambush = null;
    end();
    return true;
  }

  function never<T>(): Promise<T> {
    return new Promise<T>(() => undefined);
  }

  const life: Life = {
    ...of,
    isAlive: () => alive,
    calls: () => calls,
    after(delayMs, run) {
      const timer = scheduler.after(delayMs, () => {
        if (!alive) return;
        if (!mustWait()) {
          run();
          return;
        }
        // It can still be cancelled.
        timer.run = run;
        wait(true, () => {
          const kept = timer.run;
          timer.run = null;
          kept?.();
        });
      });
      return timer;
    },
    hear(run) {
      if (!alive) return;
      if (mustWait()) wait(false, run);
      else run();
    },
    arrive: (delayMs, run) => void scheduler.after(delayMs, () => life.hear(run)),
    pause(first) {
      let isOver = false;
      pauses += 1;
      return () => {
        if (isOver) return false;
        isOver = true;
        return goOn(first);
      };
    },
    isPaused: mustWait,
    call<T>(name: string, effect: () => T, delayMs = 0): Promise<T> {
      if (!alive) return never<T>();
      // Only what a turn of the event loop had begun can ask now, and the turn stands still.
      if (pauses > 0) {
        return new Promise((resolve, reject) => {
          wait(false, () => void life.call(name, effect, delayMs).then(resolve, reject));
        });
      }
      calls += 1;
      if (isAmbushed('before')) return never<T>();
      if (delayMs > 0) {
        return new Promise<T>((resolve, reject) => {
          scheduler.after(delayMs, () => {
            if (!alive) return;
            settle(resolve, reject);
          });
        });
      }
      return new Promise<T>((resolve, reject) => settle(resolve, reject));

      function settle(resolve: (value: T) => void, reject: (error: unknown) => void): void {
        try {
          const value = effect();
          if (!isAmbushed('after')) life.hear(() => resolve(value));
        } catch (error) {
          if (!isAmbushed('after')) life.hear(() => reject(error));
        }
      }
    },
    endAtCall(count, when, end) {
      ambush = { atCall: calls + count, when, end };
    },
    onEnd(run) {
      if (alive) listeners.push(run);
      else run();
    },
    end() {
      if (!alive) return;
      alive = false;
      waiting = [];
      for (const run of listeners.splice(0)) run();
    },
  };
  return life;
}
