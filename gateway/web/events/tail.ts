// The live tail: what the Console stored just now, put on top of the list and bounded, so that an hour of it does not grow
// the tab. Paused, it collects ("12 new") and nothing moves.
import { useEffect, useReducer } from 'react';
import type { EventItem } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';

export const TAIL_MAX = 500;

export type Tail = {
  readonly is: 'off' | 'following' | 'paused';
  /** The Console has answered: from then on nothing new is missed. */
  readonly isHeard: boolean;
  readonly shown: readonly EventItem[];
  readonly waiting: readonly EventItem[];
  readonly dropped: number;
};
export type TailMove =
  | { readonly type: 'turned' | 'paused' | 'resumed' | 'cleared' }
  | { readonly type: 'came'; readonly items: readonly EventItem[]; readonly dropped: number };
export const TAIL_OFF: Tail = {
  ...{ is: 'off', isHeard: false, shown: [], waiting: [], dropped: 0 },
};

/** The newest first, no more than TAIL_MAX of each; what the list never showed is counted. */
export function tailAfter(tail: Tail, move: TailMove): Tail {
  switch (move.type) {
    case 'turned':
      return { ...shownAll(tail), isHeard: false, is: tail.is === 'off' ? 'following' : 'off' };
    case 'paused':
      return tail.is === 'following' ? { ...tail, is: 'paused' } : tail;
    case 'resumed':
      return { ...shownAll(tail), is: 'following' };
    case 'cleared':
      return { ...TAIL_OFF, is: tail.is };
    case 'came': {
      if (tail.is === 'off' || (tail.isHeard && move.items.length === 0)) return tail;
      const waiting = [...move.items.toReversed(), ...tail.waiting];
      const excess = Math.max(0, waiting.length - TAIL_MAX);
      const held = {
        ...tail,
        isHeard: true,
        waiting: waiting.slice(0, TAIL_MAX),
        dropped: tail.dropped + move.dropped + excess,
      };
      if (tail.is === 'paused') return held;
      return { ...shownAll(held), dropped: move.dropped + excess };
    }
  }
}

function shownAll(tail: Tail): Tail {
  const shown = [...tail.waiting, ...tail.shown].slice(0, TAIL_MAX);
  return { ...tail, shown, waiting: [], dropped: 0 };
}

/** Follows what matches while it is on. */
export function useTail(filters: Readonly<Record<string, unknown>>) {
  const [tail, move] = useReducer(tailAfter, TAIL_OFF);
  const key = JSON.stringify(filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter begins another tail
  useEffect(() => move({ type: 'cleared' }), [key]);
  const spec = tail.is === 'off' ? null : ({ topic: 'events', query: filters } as const);
  useTopic(spec, ({ items, dropped }) => {
    move({ type: 'came', items: items as readonly EventItem[], dropped: Number(dropped) });
  });
  return { tail, move };
}
