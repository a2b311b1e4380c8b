// The switch of a fake store: while it is away every call throws as the real one does when the database is gone.
import { StoreUnavailable } from '../../ports/plumbing/store-unavailable.ts';
import type { Ask } from './unsafe-port-of.ts';

export type AwaySwitch = {
  isAway(): boolean;
  /** Away: every call throws StoreUnavailable and does nothing. */
  setAway(away: boolean): void;
  /** Makes a call of a port. */
  readonly ask: Ask;
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
    async ask(_name, effect) {
      if (isAway) throw new StoreUnavailable('the memory store is told to be away');
      return effect();
    },
  };
}
