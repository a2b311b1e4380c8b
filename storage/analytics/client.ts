// The one HTTP client to ClickHouse: zstd both ways, 64-bit numbers as text (they come back rounded otherwise), and no
// word on the console: what goes wrong is thrown, and whoever catches it logs it with its own facts.
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  createClient,
} from '@clickhouse/client';
import {
  EXPORT_STEP_TIMEOUT_MS,
  SEARCH_TIMEOUT_MS,
  SINK_INSERT_TIMEOUT_MS,
} from '../../machines/limits.ts';
import { EventStoreUnavailable, SearchTooLarge } from '../ports/telemetry/event-store.ts';

const silence = () => undefined;
class SilentLogger {
  readonly trace = silence;
  readonly debug = silence;
  readonly info = silence;
  readonly warn = silence;
  readonly error = silence;
}

export type AnalyticsAccess = {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
};

/** Makes the client; it connects with its first request. `isStreaming`: for long answers that are read as bytes. */
export function createAnalyticsClient(
  access: AnalyticsAccess,
  { isStreaming = false }: { readonly isStreaming?: boolean } = {},
): ClickHouseClient {
  return createClient({
    url: access.url,
    ...(access.username === undefined ? {} : { username: access.username }),
    ...(access.password === undefined ? {} : { password: access.password }),
    application: 'service-console',
    request_timeout: isStreaming
      ? EXPORT_STEP_TIMEOUT_MS
      : Math.max(SEARCH_TIMEOUT_MS, SINK_INSERT_TIMEOUT_MS),
    compression: isStreaming
      ? { request: false, response: false }
      : { request: { codec: 'zstd' }, response: { codec: 'zstd' } },
    clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
    log: { LoggerClass: SilentLogger, level: ClickHouseLogLevel.OFF },
  });
}

/** Server codes that say "not now": time, memory, too many queries or parts, lost connections, read-only disk. */
const BUSY_CODES: ReadonlySet<string> = new Set([
  '159',
  '202',
  '203',
  '209',
  '210',
  '241',
  '242',
  '243',
  '252',
  '319',
  '394',
  '425',
  '439',
  '516',
  '999',
]);

/** Whether an error means the store cannot answer now, rather than that it refuses what it was asked. */
export function isEventStoreAway(error: unknown): boolean {
  if (error instanceof SearchTooLarge) return false;
  return !(error instanceof ClickHouseError) || BUSY_CODES.has(error.code);
}

/** Runs a call; what means "away" is thrown as EventStoreUnavailable. */
export async function orEventStoreUnavailable<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error) || !isEventStoreAway(error)) throw error;
    throw new EventStoreUnavailable(`the event store cannot answer: ${error.message}`, {
      cause: error,
    });
  }
}

/** Server codes that say what one question exceeded. */
const TOO_LARGE: Readonly<Record<string, string>> = {
  '158': 'it would read too many rows',
  '159': 'it took too long',
  '160': 'it would take too long',
  '241': 'it needs too much memory',
  '307': 'it would read too many bytes',
  '396': 'its answer is too large',
};

/** Runs a bounded question; what exceeds its bounds is thrown as SearchTooLarge. */
export async function orTooLarge<T>(call: () => Promise<T>): Promise<T> {
  return orEventStoreUnavailable(async () => {
    try {
      return await call();
    } catch (error) {
      const why = error instanceof ClickHouseError ? TOO_LARGE[error.code] : undefined;
      if (why === undefined) throw error;
      throw new SearchTooLarge(why, { cause: error });
    }
  });
}
