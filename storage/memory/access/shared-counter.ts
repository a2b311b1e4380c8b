// The reference shared counter: windows in a map, on a switch. Used by tests only.
import {
  type Budgeted,
  type SharedCounter,
  SharedCounterUnavailable,
} from '../../ports/access/shared-counter.ts';

export type MemoryCounter = {
  readonly counter: SharedCounter;
  /** Away: every call rejects, and whoever listens is told. */
  setAway(away: boolean): void;
};

/** Makes an empty counter. `now` is a clock that never goes back. */
export function createMemoryCounter(now: () => number): MemoryCounter {
  const windows = new Map<string, { used: number; readonly endsMs: number }>();
  const listeners: ((reason: string) => void)[] = [];
  let isAway = false;

  function windowOf({ name, windowMs }: Budgeted, key: string) {
    const at = `${name}\n${key}`;
    const known = windows.get(at);
    if (known !== undefined && now() < known.endsMs) return known;
    const begun = { used: 0, endsMs: now() + windowMs };
    windows.set(at, begun);
    return begun;
  }
  function present(): void {
    if (isAway) throw new SharedCounterUnavailable('away');
  }

  return {
    counter: {
      async consume(budget, key) {
        present();
        const window = windowOf(budget, key);
        window.used += 1;
        const { limit } = budget;
        return {
          allowed: window.used <= limit,
          limit,
          remaining: Math.max(0, limit - window.used),
          resetMs: window.endsMs - now(),
        };
      },
      async reward(budget, key) {
        present();
        windowOf(budget, key).used -= 1;
      },
      look: async () => present(),
      onLost: (listener) => void listeners.push(listener),
      close: async () => undefined,
    },
    setAway(away) {
      isAway = away;
      if (away) for (const listener of listeners) listener('away');
    },
  };
}
