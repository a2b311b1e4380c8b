// Stores every region's move of every sensor in `sensor_transitions`, in groups. The queue is bounded: when the event
// store is away for long the oldest moves are dropped and counted, because control state must not wait for history.
// invariant: I10
import { TRANSITIONS_QUEUE_MAX } from '../../machines/limits.ts';
import type { EventStore, TransitionRow } from '../../storage/ports/telemetry/event-store.ts';
import { ACTOR_OPENED, ACTOR_REBUILT } from '../runtime/directory.ts';
import type { FeedMove, InspectionFeed } from '../runtime/inspection-feed.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WheelClock } from '../runtime/wheel-clock.ts';

const ROWS_PER_INSERT_MAX = 5_000;

export type TransitionRecorder = { dropped(): number; queued(): number; close(): Promise<void> };

/** Starts recording the feed's sensor moves. */
export function startTransitionRecorder(options: {
  readonly feed: InspectionFeed;
  readonly store: Pick<EventStore, 'insertTransitions'>;
  readonly clock: WheelClock;
  readonly intervalMs: number;
  readonly logger: Logger;
}): TransitionRecorder {
  let queue: TransitionRow[] = [];
  let dropped = 0;
  let writing: Promise<void> | null = null;
  let isClosed = false;
  let wasAway = false;

  const stopListening = options.feed.subscribe((move) => {
    if (move.kind !== 'sensor' || isRebuild(move)) return;
    queue.push(rowOf(move));
    trim();
  });

  function trim(): void {
    const excess = queue.length - TRANSITIONS_QUEUE_MAX;
    if (excess <= 0) return;
    queue.splice(0, excess);
    dropped += excess;
  }

  async function write(): Promise<void> {
    while (queue.length > 0) {
      const rows = queue.splice(0, ROWS_PER_INSERT_MAX);
      try {
        await options.store.insertTransitions(rows);
        wasAway = false;
      } catch (error) {
        queue = [...rows, ...queue];
        trim();
        if (!wasAway)
          options.logger.warn({ error: String(error) }, 'transitions wait for the event store');
        wasAway = true;
        return;
      }
    }
  }

  function tick(): void {
    if (isClosed) return;
    writing ??= write().finally(() => {
      writing = null;
      options.clock.setTimeout(tick, options.intervalMs);
    });
  }
  options.clock.setTimeout(tick, options.intervalMs);

  return {
    dropped: () => dropped,
    queued: () => queue.length,
    async close() {
      isClosed = true;
      stopListening();
      await writing;
      await write();
    },
  };
}

// An actor that is built from facts did not move: its first states are no history.
function isRebuild(move: FeedMove): boolean {
  return move.event === ACTOR_OPENED || move.event === ACTOR_REBUILT;
}

function rowOf(move: FeedMove): TransitionRow {
  return {
    sensorId: move.id,
    actorKind: move.kind,
    region: move.region,
    from: move.from,
    to: move.to,
    event: move.event,
    facts: move.facts,
    atMs: move.atMs,
  };
}
