// Days of the event store for exports: counted by questions, read as Parquet by a thread of its own. decision: D157
import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import type { TableDay } from '../../machines/console/exports/export-run.rules.ts';
import { EXPORT_RESULT_MAX_BYTES, EXPORT_STEP_TIMEOUT_MS } from '../../machines/limits.ts';
import { SECOND_MS } from '../../machines/units.ts';
import type { ExportSource } from '../ports/exports/export-source.ts';
import { createAsk } from './ask.ts';
import { orEventStoreUnavailable } from './client.ts';
import { partQuery, tallyQuery } from './export-queries.ts';

const SECONDS_MAX = EXPORT_STEP_TIMEOUT_MS / SECOND_MS;

/** Makes the source on a client. */
export function createExportSource(client: ClickHouseClient): ExportSource {
  const ask = createAsk(client, { settings: { max_execution_time: String(SECONDS_MAX) } });
  return {
    async tally(of) {
      const [row] = await ask<{ row_count: string; different: string; hash_sum: string }>(
        tallyQuery(of),
      );
      return {
        rows: Number(row?.row_count ?? 0),
        distinct: Number(row?.different ?? 0),
        hashSum: row?.hash_sum ?? '0',
      };
    },
  };
}

/** Opens one part as a stream of Parquet; what breaks later breaks the stream. */
export function openParquet(
  client: ClickHouseClient,
  of: TableDay & { readonly part: number; readonly parts: number },
  signal: AbortSignal,
): Promise<Readable> {
  return orEventStoreUnavailable(async () => {
    const { stream } = await client.exec({
      query: partQuery(of, of.part, of.parts),
      abort_signal: signal,
      clickhouse_settings: {
        max_execution_time: SECONDS_MAX,
        // The embedded store holds a result whole; it may be larger than what operators are answered.
        max_result_bytes: String(EXPORT_RESULT_MAX_BYTES),
        output_format_parquet_compression_method: 'zstd',
        output_format_parquet_string_as_string: 1,
        output_format_parquet_row_group_size: '100000',
      },
    });
    return Readable.from(stream);
  });
}
