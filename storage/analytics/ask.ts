// Questions and inserts as every store on ClickHouse makes them: a question has an end, an insert has a token of its own
// and is on the server's disk when it is answered.
import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { SEARCH_TIMEOUT_MS } from '../../machines/limits.ts';
import { orEventStoreUnavailable } from './client.ts';

export type AskAnalytics = <Row>(
  query: string,
  params?: Readonly<Record<string, unknown>>,
) => Promise<readonly Row[]>;

/** Makes the way to ask. Throws EventStoreUnavailable. */
export function createAsk(client: ClickHouseClient): AskAnalytics {
  return <Row>(query: string, params: Readonly<Record<string, unknown>> = {}) =>
    orEventStoreUnavailable(async () => {
      const result = await client.query({
        query,
        query_params: { ...params },
        format: 'JSONEachRow',
        clickhouse_settings: { max_execution_time: SEARCH_TIMEOUT_MS / 1_000 },
      });
      return result.json<Row>();
    });
}

/** Inserts rows into one table; none is no insert. Throws EventStoreUnavailable. */
export async function insertRows(
  client: ClickHouseClient,
  table: string,
  values: readonly object[],
): Promise<void> {
  if (values.length === 0) return;
  await orEventStoreUnavailable(() =>
    client.insert({
      table,
      format: 'JSONEachRow',
      values: [...values],
      clickhouse_settings: {
        async_insert: 0,
        insert_deduplication_token: randomUUID(),
        input_format_parallel_parsing: 0,
      },
    }),
  );
}
