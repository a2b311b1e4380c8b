// Stores what moved every sensor in `sensor_transitions`, in groups, each row with what the actor was after it. The queue
// is bounded: when the event store is away for long the oldest rows are dropped, because control state must not wait for
// history, and one row for each sensor says where they are missing. invariant: I10, I19; decision: D88
import { createHash } from 'node:crypto';
import type { AnyStateMachine } from 'xstate';
import { sensorMachine } from '../../machines/console/fleet/sensor.machine.ts';
import { TRANSITIONS_QUEUE_MAX } from '../../machines/limits.ts';
import type { EventStore, TransitionRow } from '../../storage/ports/telemetry/event-store.ts';
import { processLoop, type UpkeepLoop } from '../loops/loop.ts';
import { ACTOR_OPENED, ACTOR_REBUILT } from '../runtime/directory.ts';
import type { FeedMove, InspectionFeed, Standing } from '../runtime/inspection-feed.ts';
import type { Logger } from '../runtime/logger.ts';

const ROWS_PER_INSERT_MAX = 5_000;
/** The event of a row that stands where a full queue dropped others. */
export const ROWS_DROPPED = 'rows.dropped';
/** Of the chart that wrote a row: another one may not know its states. */
export const SENSOR_MACHINE_VERSION = machineVersion(sensorMachine);

export type TransitionRecorder = {
  dropped(): number;
  queued(): number;
  /** Rows of one sensor that the store does not have yet, oldest first. */
  queuedOf(sensorId: string): readonly TransitionRow[];
  /** Takes a row that is not of a sensor's actor in this Console. */
  add(row: TransitionRow): void;
  /** Writes what waits; what the store did not take waits for the next run. */
  readonly loop: UpkeepLoop;
  /** Writes what waits, once, then stops. */
  close(): Promise<void>;
};

/** Starts recording the feed's sensor moves. */
export function startTransitionRecorder(options: {
  readonly feed: InspectionFeed;
  readonly store: Pick<EventStore, 'insertTransitions'>;
  readonly intervalMs: number;
  readonly logger: Logger;
  readonly queueMax?: number;
}): TransitionRecorder {
  const { queueMax = TRANSITIONS_QUEUE_MAX } = options;
  let queue: TransitionRow[] = [];
  let inFlight: readonly TransitionRow[] = [];
  // One for each sensor at most, the ids are of enrolled ones.
  const gaps = new Map<string, TransitionRow>();
  let dropped = 0;
  let writing: Promise<void> = Promise.resolve();
  let built: Standing | null = null;

  const stopListening = options.feed.subscribe((move) => {
    if (move.kind !== 'sensor') return;
    if (!isBuild(move)) return add(rowOf(move));
    // An actor that is built from facts did not move; one row says what it is from here on.
    if (built !== move.after) add(rowOf({ ...move, region: '', from: '', to: '' }));
    built = move.after;
  });

  function add(row: TransitionRow): void {
    queue.push(row);
    trim();
  }

  function trim(): void {
    const excess = queue.length - queueMax;
    if (excess <= 0) return;
    for (const row of queue.splice(0, excess)) noteGap(row);
    dropped += excess;
  }

  function noteGap(row: TransitionRow): void {
    const gap = gaps.get(row.sensorId);
    const rows = row.event === ROWS_DROPPED ? Number(row.facts['rows']) : 1;
    gaps.set(row.sensorId, {
      ...(gap ?? { ...row, ...{ region: '', from: '', to: '' }, event: ROWS_DROPPED, after: null }),
      facts: { rows: Number(gap?.facts['rows'] ?? 0) + rows, untilMs: row.atMs },
    });
  }

  async function write(): Promise<void> {
    while (queue.length > 0 || gaps.size > 0) {
      const missing = [...gaps.values()];
      gaps.clear();
      const rows = [...missing, ...queue.splice(0, ROWS_PER_INSERT_MAX)];
      inFlight = rows;
      try {
        await options.store.insertTransitions(rows);
      } catch (error) {
        queue = [...rows.slice(missing.length), ...queue];
        for (const gap of missing) keepGap(gap);
        trim();
        throw error;
      } finally {
        inFlight = [];
      }
    }
  }

  // What was dropped while this one was on its way is later than it.
  function keepGap(gap: TransitionRow): void {
    const later = gaps.get(gap.sensorId);
    const facts = {
      rows: Number(gap.facts['rows']) + Number(later?.facts['rows'] ?? 0),
      untilMs: later?.facts['untilMs'] ?? gap.facts['untilMs'],
    };
    gaps.set(gap.sensorId, { ...gap, facts });
  }

  const loop = processLoop('transition-writes', options.intervalMs, () => {
    writing = write();
    return writing;
  });

  return {
    dropped: () => dropped,
    queued: () => queue.length,
    queuedOf(sensorId) {
      const gap = gaps.get(sensorId);
      const rows = [...inFlight, ...(gap === undefined ? [] : [gap]), ...queue];
      return rows.filter((row) => row.sensorId === sensorId);
    },
    ...{ add, loop: { ...loop, glance: () => queue.length > 0 || gaps.size > 0 } },
    async close() {
      stopListening();
      await writing.catch(() => undefined);
      await write().catch((error: unknown) => {
        options.logger.warn({ error: String(error) }, 'transitions are lost at the end');
      });
    },
  };
}

function machineVersion({ config }: AnyStateMachine): string {
  return createHash('sha256').update(JSON.stringify(config)).digest('hex').slice(0, 16);
}

function isBuild(move: FeedMove): boolean {
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
    after: { ...move.after, machine: SENSOR_MACHINE_VERSION },
  };
}
