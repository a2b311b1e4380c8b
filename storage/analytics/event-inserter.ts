// The way of batches into ClickHouse: one insert of many batches, answered only after it is on disk. What an error means
// is decided here, so that the sink needs to know nothing of the client. decision: D8; invariant: I1
import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import type { EventBatch } from '../ports/telemetry/event-store.ts';
import { isEventStoreAway } from './client.ts';
import { encodeBatch } from './encode-batch.ts';

/**
 * How an insert ended: `refused` is about its content, `not_sent` wrote nothing, and after `unknown` it may have been
 * written all the same.
 */
export type InsertOutcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly why: 'refused' | 'not_sent' | 'unknown';
      readonly reason: string;
    };

/** Where the sink writes to; `Prepared` is a batch as it waits for its insert. */
export type EventInserter<Prepared> = {
  prepare(batch: EventBatch): Prepared;
  /** Writes all or nothing; the store recognises a token it has seen. Gives up at the signal. Never rejects. */
  insert(batches: readonly Prepared[], token: string, signal: AbortSignal): Promise<InsertOutcome>;
  /** Whether the store answers again. Never rejects. */
  ping(): Promise<boolean>;
};

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

/** Makes the inserter on a client; a batch waits as the text of its rows. */
export function createEventInserter(client: ClickHouseClient): EventInserter<string> {
  return {
    prepare: encodeBatch,
    async insert(texts, token, signal) {
      try {
        const body = Buffer.from(texts.join(''));
        const result = await client.exec({
          query: INSERT,
          values: Readable.from([body], { objectMode: false }),
          clickhouse_settings: { ...INSERT_SETTINGS, insert_deduplication_token: token },
          abort_signal: signal,
        });
        // The answer has no content, but it must be read for the connection to be used again.
        await result.stream.resume().toArray();
        return { ok: true };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return { ok: false, why: whyOf(error), reason };
      }
    },
    async ping() {
      const answer = await client.ping({ select: true }).catch(() => ({ success: false }));
      return answer.success;
    },
  };
}

function whyOf(error: unknown): 'refused' | 'not_sent' | 'unknown' {
  if (!isEventStoreAway(error)) return 'refused';
  const isRefusedConnection =
    error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
  return isRefusedConnection ? 'not_sent' : 'unknown';
}
