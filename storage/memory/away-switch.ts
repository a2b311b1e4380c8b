// The switch of a fake store: while it is away every call throws as the real one does when the database is gone.
import { StoreUnavailable } from '../ports/relational.ts';

export type AwaySwitch = {
  isAway(): boolean;
  /** Away: every guarded call throws StoreUnavailable and does nothing. */
  setAway(away: boolean): void;
  /** Makes a call of a port: it runs to its end at once, which is what a transaction promises. */
  guard<Args extends readonly unknown[], Answer>(
    run: (...args: Args) => Answer,
  ): (...args: Args) => Promise<Answer>;
};

/** Makes a switch; `onChange` is told when it really moved. */
export function createAwaySwitch(onChange?: (away: boolean) => void): AwaySwitch {
  let isAway = false;
  return {
    isAway: () => isAway,
    setAway(away) {
      if (away === isAway) return;
      isAway = away;
      onChange?.(away);
    },
    guard:
      (run) =>
      async (...args) => {
        if (isAway) throw new StoreUnavailable('the memory store is told to be away');
        return run(...args);
      },
  };
}
