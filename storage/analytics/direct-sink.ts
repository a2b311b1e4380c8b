// The sink that writes straight to the event store: one insert for many sensors' batches, acknowledged only after it is
// on disk. An insert whose fate is unknown is repeated with the same token, which the store recognises, so a repeat does
// not store twice. While the store is away batches are refused at once, and a probe notices its return.
// decision: D5, D8; invariant: I1, I6, I10
import { randomUUID } from 'node:crypto';
import {
  type Intervals,
  SINK_COMMIT_ROWS_MAX,
  SINK_INSERT_ATTEMPTS_MAX,
  SINK_INSERT_TIMEOUT_MS,
  SINK_QUEUE_ROWS_MAX,
} from '../../machines/limits.ts';
import type { Timers } from '../ports/plumbing/clock.ts';
import { createGroupCommit } from '../ports/plumbing/group-commit.ts';
import type { Logger } from '../ports/plumbing/logger.ts';
import type { EventBatch, EventSink, SinkOutcome } from '../ports/telemetry/event-store.ts';
import type { EventInserter, InsertOutcome } from './event-inserter.ts';

export type DirectSinkOptions<Prepared> = {
  readonly inserter: EventInserter<Prepared>;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly intervals: Pick<
    Intervals,
    'SINK_COMMIT_INTERVAL_MS' | 'RETRY_AFTER_STORE_MS' | 'STORE_PROBE_INTERVAL_MS'
  >;
  readonly queueRowsMax?: number;
  readonly insertTimeoutMs?: number;
  /** A name no other insert has; random unless told. */
  readonly newToken?: () => string;
};

type Waiting<Prepared> = { readonly month: number; readonly batch: Prepared };

/** Makes the sink. */
export function createDirectSink<Prepared>(options: DirectSinkOptions<Prepared>): EventSink {
  const { inserter, timers, logger, intervals, newToken = randomUUID } = options;
  const insertTimeoutMs = options.insertTimeoutMs ?? SINK_INSERT_TIMEOUT_MS;
  const refused: SinkOutcome = { ok: false, retryAfterMs: intervals.RETRY_AFTER_STORE_MS };
  const stored: SinkOutcome = { ok: true };
  let isAway = false;
  let isClosed = false;
  let probe: unknown = null;

  async function commit(items: readonly Waiting<Prepared>[]): Promise<readonly boolean[]> {
    if (isAway) return items.map(() => false);
    const batches = items.map((item) => item.batch);
    const token = newToken();
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await insertWithin(insertTimeoutMs, timers, (signal) =>
        inserter.insert(batches, token, signal),
      );
      if (outcome.ok) return items.map(() => true);
      if (outcome.why === 'refused') return split(items, outcome.reason);
      if (attempt < SINK_INSERT_ATTEMPTS_MAX && outcome.why === 'unknown') continue;
      logger.warn({ error: outcome.reason, attempts: attempt }, 'the event store is away');
      goAway();
      return items.map(() => false);
    }
  }

  /** The store refuses the content: halves find the batch that is to blame, and the others are stored. */
  async function split(
    items: readonly Waiting<Prepared>[],
    reason: string,
  ): Promise<readonly boolean[]> {
    if (items.length === 1) {
      logger.error({ error: reason }, 'the event store refuses a batch');
      return [false];
    }
    const middle = Math.ceil(items.length / 2);
    return [...(await commit(items.slice(0, middle))), ...(await commit(items.slice(middle)))];
  }

  function goAway(): void {
    if (isAway) return;
    isAway = true;
    scheduleProbe();
  }

  function scheduleProbe(): void {
    if (isClosed) return;
    probe = timers.setTimeout(() => void ask(), intervals.STORE_PROBE_INTERVAL_MS);
  }

  async function ask(): Promise<void> {
    const isBack = await inserter.ping();
    if (isClosed) return;
    if (!isBack) {
      scheduleProbe();
      return;
    }
    isAway = false;
    logger.info('the event store is back');
  }

  const group = createGroupCommit<Waiting<Prepared>>({
    timers,
    intervalMs: intervals.SINK_COMMIT_INTERVAL_MS,
    rowsMax: SINK_COMMIT_ROWS_MAX,
    queueRowsMax: options.queueRowsMax ?? SINK_QUEUE_ROWS_MAX,
    fits: (first, item) => first.month === item.month,
    commit,
  });

  return {
    async append(batch) {
      if (batch.events.length === 0) return stored;
      if (isAway || isClosed) return refused;
      const item = { month: monthOf(batch), batch: inserter.prepare(batch) };
      return (await group.offer(item, batch.events.length)) ? stored : refused;
    },
    queuedRows: () => group.queuedRows(),
    async close() {
      await group.close();
      isClosed = true;
      timers.clearTimeout(probe);
    },
  };
}

/** One insert with an end: a store that says nothing leaves its fate unknown. */
function insertWithin(
  timeoutMs: number,
  timers: Timers,
  insert: (signal: AbortSignal) => Promise<InsertOutcome>,
): Promise<InsertOutcome> {
  const giveUp = new AbortController();
  return new Promise((resolve) => {
    const deadline = timers.setTimeout(() => {
      resolve({ ok: false, why: 'unknown', reason: `no answer within ${timeoutMs} ms` });
      giveUp.abort();
    }, timeoutMs);
    void insert(giveUp.signal).then((outcome) => {
      timers.clearTimeout(deadline);
      resolve(outcome);
    });
  });
}

function monthOf(batch: EventBatch): number {
  const at = new Date(batch.receivedAtMs);
  return at.getUTCFullYear() * 12 + at.getUTCMonth();
}
