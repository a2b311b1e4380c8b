// Questions and inserts as every store on ClickHouse makes them: a question has an end, an insert has a token of its own
// and is on the server's disk when it is answered.
import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { SEARCH_TIMEOUT_MS } from '../../machines/limits.ts';
import { orEventStoreUnavailable, orTooLarge } from './client.ts';

export type AskAnalytics = <Row, Item = Row>(
  query: string,
  params?: Readonly<Record<string, unknown>>,
  read?: (row: Row) => Item,
) => Promise<readonly Item[]>;

/** As `AskAnalytics`, ended by the signal of whoever asked. `read`: makes something else of each row as it comes. */
export type AskEvents = <Row, Item = Row>(
  query: { readonly signal?: AbortSignal },
  sql: string,
  params: Readonly<Record<string, unknown>>,
  read?: (row: Row) => Item,
) => Promise<readonly Item[]>;

export type AskOptions = {
  readonly settings?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** The question is an operator's: what is too large is told as such. */
  readonly isBounded?: boolean;
};

/** Makes the way to ask. Throws EventStoreUnavailable, and SearchTooLarge where questions are bounded. */
export function createAsk(client: ClickHouseClient, options: AskOptions = {}): AskAnalytics {
  const { settings = {}, signal, isBounded = false } = options;
  const guard = isBounded ? orTooLarge : orEventStoreUnavailable;
  return <Row, Item>(
    query: string,
    params: Readonly<Record<string, unknown>> = {},
    read?: (row: Row) => Item,
  ) =>
    guard(async () => {
      const result = await client.query({
        query,
        query_params: { ...params },
        format: 'JSONEachRow',
        ...(signal === undefined ? {} : { abort_signal: signal }),
        clickhouse_settings: { max_execution_time: SEARCH_TIMEOUT_MS / 1_000, ...settings },
      });
      // Row by row as they come: many at once would hold everything else up.
      const items: Item[] = [];
      const itemOf = read ?? ((row: Row) => row as unknown as Item);
      for await (const some of result.stream<Row>()) {
        for (const row of some) items.push(itemOf(row.json<Row>()));
      }
      return items;
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
