// The sink that writes straight to ClickHouse: one insert for many sensors' batches, acknowledged only after it is on
// disk. An insert whose fate is unknown is repeated with the same token, which the store recognises, so a repeat does not
// store twice. While the store is away batches are refused at once, and a probe notices its return.
// decision: D5, D8; invariant: I1, I6, I10
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import {
  type Intervals,
  SINK_COMMIT_ROWS_MAX,
  SINK_INSERT_ATTEMPTS_MAX,
  SINK_INSERT_TIMEOUT_MS,
  SINK_QUEUE_ROWS_MAX,
} from '../../machines/limits.ts';
import type { Timers } from '../ports/clock.ts';
import type { EventBatch, EventSink, SinkOutcome } from '../ports/event-store.ts';
import { createGroupCommit } from '../ports/group-commit.ts';
import type { Logger } from '../ports/logger.ts';
import { isEventStoreAway } from './client.ts';
import { encodeBatch } from './encode-batch.ts';

const INSERT = 'INSERT INTO runtime_events FORMAT JSONEachRow';
/** One insert is one block in one partition, written and synced before the answer, and repeatable. */
const INSERT_SETTINGS = {
  async_insert: 0,
  insert_deduplicate: 1,
  input_format_parallel_parsing: 0,
  input_format_skip_unknown_fields: 1,
  input_format_json_ignore_unknown_keys_in_named_tuple: 1,
  input_format_json_throw_on_bad_escape_sequence: 0,
} as const;

export type DirectSinkOptions = {
  readonly client: ClickHouseClient;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly intervals: Pick<
    Intervals,
    'SINK_COMMIT_INTERVAL_MS' | 'RETRY_AFTER_STORE_MS' | 'STORE_PROBE_INTERVAL_MS'
  >;
  readonly queueRowsMax?: number;
  readonly insertTimeoutMs?: number;
};

type Encoded = { readonly month: number; readonly text: string };

/** Makes the sink. */
export function createDirectSink(options: DirectSinkOptions): EventSink {
  const { client, timers, logger, intervals } = options;
  const refused: SinkOutcome = { ok: false, retryAfterMs: intervals.RETRY_AFTER_STORE_MS };
  const stored: SinkOutcome = { ok: true };
  let isAway = false;
  let isClosed = false;
  let probe: unknown = null;

  async function insertOnce(body: Buffer, token: string): Promise<void> {
    const result = await client.exec({
      query: INSERT,
      values: Readable.from([body], { objectMode: false }),
      clickhouse_settings: { ...INSERT_SETTINGS, insert_deduplication_token: token },
      abort_signal: AbortSignal.timeout(options.insertTimeoutMs ?? SINK_INSERT_TIMEOUT_MS),
    });
    // The answer has no content, but it must be read for the connection to be used again.
    await result.stream.resume().toArray();
  }

  async function commit(items: readonly Encoded[]): Promise<readonly boolean[]> {
    if (isAway) return items.map(() => false);
    const body = Buffer.from(items.map((item) => item.text).join(''));
    const token = randomUUID();
    for (let attempt = 1; ; attempt += 1) {
      try {
        await insertOnce(body, token);
        return items.map(() => true);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (!isEventStoreAway(error)) return split(items, reason);
        if (attempt < SINK_INSERT_ATTEMPTS_MAX && !isRefusedConnection(error)) continue;
        logger.warn({ error: reason, attempts: attempt }, 'the event store is away');
        goAway();
        return items.map(() => false);
      }
    }
  }

  /** The store refuses the content: halves find the batch that is to blame, and the others are stored. */
  async function split(items: readonly Encoded[], reason: string): Promise<readonly boolean[]> {
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
    const answer = await client.ping({ select: true }).catch(() => ({ success: false }));
    if (isClosed) return;
    if (!answer.success) {
      scheduleProbe();
      return;
    }
    isAway = false;
    logger.info('the event store is back');
  }

  const group = createGroupCommit<Encoded>({
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
      const item = { month: monthOf(batch), text: encodeBatch(batch) };
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

function monthOf(batch: EventBatch): number {
  const at = new Date(batch.receivedAtMs);
  return at.getUTCFullYear() * 12 + at.getUTCMonth();
}

/** Nothing was sent, so there is nothing to repeat. */
function isRefusedConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}
