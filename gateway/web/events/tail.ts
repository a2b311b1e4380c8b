// The live tail: what the Console stored just now, collected beside the list and bounded, so that an hour of it does not
// grow the tab.
import { useEffect, useState } from 'react';
import type { EventItem } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';

export const TAIL_MAX = 500;

type State = {
  readonly shown: readonly EventItem[];
  readonly waiting: readonly EventItem[];
  readonly dropped: number;
};
const EMPTY: State = { shown: [], waiting: [], dropped: 0 };

/** The newest first, no more than TAIL_MAX; what does not fit is counted. */
export function collected(state: State, items: readonly EventItem[], dropped: number): State {
  const waiting = [...[...items].reverse(), ...state.waiting];
  const excess = Math.max(0, waiting.length - TAIL_MAX);
  return {
    ...state,
    waiting: waiting.slice(0, TAIL_MAX),
    dropped: state.dropped + dropped + excess,
  };
}

/** Follows what matches while it is on. */
export function useTail(filters: Readonly<Record<string, unknown>>) {
  const [isOn, setOn] = useState(false);
  const [state, setState] = useState<State>(EMPTY);
  const key = JSON.stringify(filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter begins another tail
  useEffect(() => setState(EMPTY), [key]);
  useTopic(isOn ? { topic: 'events', query: filters } : null, ({ items, dropped }) => {
    const found = items as readonly EventItem[];
    if (found.length > 0) setState((now) => collected(now, found, Number(dropped)));
  });
  return {
    isOn,
    shown: state.shown,
    waiting: state.waiting.length,
    dropped: state.dropped,
    toggle: () => setOn(!isOn),
    show: () =>
      setState(({ shown, waiting }) => ({
        shown: [...waiting, ...shown].slice(0, TAIL_MAX),
        waiting: [],
        dropped: 0,
      })),
  };
}
