// What every actor did: each move of each region with its event and instant. Bounded: old entries fall out, and the
// recent moves of an actor are kept for its crash record. Listeners must be quick and may not throw. invariant: I10
import { FEED_EVENTS_MAX, FEED_PER_ACTOR_MAX } from '../../machines/limits.ts';
import type { RunningTimer } from './running-timers.ts';

/** What an actor was after a move: enough to restore it. decision: D88 */
export type Standing = {
  readonly value: unknown;
  readonly context: unknown;
  readonly timers: readonly RunningTimer[];
};

/**
 * One region's move. `region` is '' for a machine without regions, and for an event that changed facts and no state:
 * `from` and `to` are '' then.
 */
export type FeedMove = {
  readonly kind: string;
  readonly id: string;
  readonly region: string;
  readonly from: string;
  readonly to: string;
  readonly event: string;
  /** The event without large parts, for people. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly atMs: number;
  readonly after: Standing;
};

export type InspectionFeed = {
  record(move: FeedMove): void;
  /** Recent moves, newest last. */
  recent(limit: number): readonly FeedMove[];
  recentOf(kind: string, id: string): readonly FeedMove[];
  subscribe(listener: (move: FeedMove) => void): () => void;
  forget(kind: string, id: string): void;
  /** Listener failures so far; a listener that throws is counted, not obeyed. */
  listenerFailures(): number;
};

/** Makes a feed; everything it holds is bounded. */
export function createInspectionFeed(eventsMax: number = FEED_EVENTS_MAX): InspectionFeed {
  const ring: FeedMove[] = [];
  let ringAt = 0;
  const perActor = new Map<string, FeedMove[]>();
  const listeners = new Set<(move: FeedMove) => void>();
  let failures = 0;

  function remember(move: FeedMove): void {
    if (ring.length < eventsMax) ring.push(move);
    else ring[ringAt] = move;
    ringAt = (ringAt + 1) % eventsMax;
    const key = actorKey(move.kind, move.id);
    const own = perActor.get(key);
    if (own === undefined) perActor.set(key, [move]);
    else {
      own.push(move);
      if (own.length > FEED_PER_ACTOR_MAX) own.shift();
    }
  }

  return {
    record(move) {
      remember(move);
      for (const listener of listeners) {
        try {
          listener(move);
        } catch {
          failures += 1;
        }
      }
    },
    recent(limit) {
      const ordered =
        ring.length < eventsMax ? ring : [...ring.slice(ringAt), ...ring.slice(0, ringAt)];
      return ordered.slice(-limit);
    },
    recentOf: (kind, id) => perActor.get(actorKey(kind, id)) ?? [],
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    forget: (kind, id) => void perActor.delete(actorKey(kind, id)),
    listenerFailures: () => failures,
  };
}

function actorKey(kind: string, id: string): string {
  return `${kind}/${id}`;
}
