// Questions to the home of runtime events. Each event_id is answered once, however often it was stored; every query has
// an end. invariant: I10
import type { ClickHouseClient } from '@clickhouse/client';
import type { Channel } from '../../machines/wire/scalars.ts';
import type { EventStore } from '../ports/telemetry/event-store.ts';
import { createAsk } from './ask.ts';
import { orEventStoreUnavailable } from './client.ts';
import { eventReceipt } from './event-receipt.ts';
import { eventSearch } from './event-search.ts';
import { insertTransitions, transitionsOf } from './transition-rows.ts';

/**
 * What every table is kept by, as the server knows it: a table that a migration adds is covered by its TTL alone. Read
 * before it is set, since an ALTER marks every part to be rewritten, even when it changes nothing.
 */
const RETAINED = `
  SELECT name, extract(engine_full, 'TTL (.+?) \\\\+ toIntervalDay') AS instant,
    toUInt32OrZero(extract(engine_full, 'TTL .*toIntervalDay\\\\((\\\\d+)\\\\)')) AS days
  FROM system.tables
  WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND position(engine_full, 'TTL ') > 0
  ORDER BY name`;
type RetainedTable = { readonly name: string; readonly instant: string; readonly days: number };
/** Islands of consecutive numbers; the innermost query is answered by the projection of batches, not by the events. */
const STORED_RANGES = `
  SELECT sensor_id, stream_id, channel, min(sequence) AS first, max(sequence) AS last
  FROM (
    SELECT sensor_id, stream_id, channel, sequence,
      toInt64(sequence) - toInt64(row_number() OVER (
        PARTITION BY sensor_id, stream_id, channel ORDER BY sequence)) AS island
    FROM (
      SELECT sensor_id, stream_id, channel, sequence FROM runtime_events
      GROUP BY sensor_id, stream_id, channel, sequence
    )
  )
  GROUP BY sensor_id, stream_id, channel, island
  ORDER BY sensor_id, stream_id, channel, first`;

type RangeRow = {
  readonly sensor_id: string;
  readonly stream_id: string;
  readonly channel: Channel;
  readonly first: string;
  readonly last: string;
};

/** Makes the store on a client. */
export function createEventStore(client: ClickHouseClient): EventStore {
  const ask = createAsk(client);

  return {
    ...eventSearch(client),
    ...eventReceipt(client),
    async storedRanges() {
      const rows = await ask<RangeRow>(STORED_RANGES);
      return rows.map((row) => ({
        sensorId: row.sensor_id,
        streamId: row.stream_id,
        channel: row.channel,
        first: Number(row.first),
        last: Number(row.last),
      }));
    },
    async batchDigest(batch) {
      const rows = await ask<{ readonly digest: string }>(
        `SELECT any(batch_digest) AS digest FROM runtime_events
         WHERE sensor_id = {sensor_id: String} AND stream_id = {stream_id: String}
           AND channel = {channel: String} AND sequence = {sequence: UInt64}
         GROUP BY sensor_id, stream_id, channel, sequence`,
        {
          sensor_id: batch.sensorId,
          stream_id: batch.streamId,
          channel: batch.channel,
          sequence: batch.sequence,
        },
      );
      return rows[0]?.digest ?? null;
    },
    insertTransitions: (rows) => insertTransitions(client, rows),
    transitionsOf: (query) => transitionsOf(ask, query),
    async setRetentionDays(days) {
      if (!Number.isSafeInteger(days) || days < 1) throw new Error('retention is whole days');
      for (const { name, instant, days: kept } of await ask<RetainedTable>(RETAINED)) {
        if (Number(kept) === days) continue;
        const query = `ALTER TABLE ${name} MODIFY TTL ${instant} + INTERVAL ${days} DAY`;
        await orEventStoreUnavailable(() => client.command({ query }));
      }
    },
    async ping() {
      const answer = await client.ping({ select: true }).catch(() => ({ success: false }));
      return answer.success;
    },
  };
}
