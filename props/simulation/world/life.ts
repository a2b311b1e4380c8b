// One life of a simulated process, from its start to its end. Everything a process does to the outside goes through its
// life: when it ends (SIGKILL, power cut), timers are dropped and what was asked for is never answered, just as nothing
// is left of a real process to hear it. A life can be told to end before or after its n-th call.
import type { ScheduledTimer, Scheduler } from './scheduler.ts';

export type Life = {
  /** `node-3` or `console-1`, and which start this is. */
  readonly host: string;
  readonly incarnation: number;
  isAlive(): boolean;
  /** Calls to the outside so far. */
  calls(): number;
  /** Runs later unless the life has ended by then. */
  after(delayMs: number, run: () => void): ScheduledTimer;
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
    after: (delayMs, run) =>
      scheduler.after(delayMs, () => {
        if (alive) run();
      }),
    call<T>(_name: string, effect: () => T, delayMs = 0): Promise<T> {
      if (!alive) return never<T>();
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
          if (!isAmbushed('after')) resolve(value);
        } catch (error) {
          if (!isAmbushed('after')) reject(error);
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
      for (const run of listeners.splice(0)) run();
    },
  };
  return life;
}
