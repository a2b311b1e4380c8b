// The numbers of events, facts and inventories on their way into the stores; every rule of `machines/limits.ts` holds here
// too.
import { MINUTE_MS, SECOND_MS } from '../../units.ts';

// Group commit of events, facts and telemetry.
export const SINK_COMMIT_INTERVAL_MS = 250;
export const SINK_COMMIT_ROWS_MAX = 10_000;
export const SINK_QUEUE_ROWS_MAX = 200_000;
export const SINK_INSERT_TIMEOUT_MS = 3 * SECOND_MS;
export const SINK_INSERT_ATTEMPTS_MAX = 3;
export const FACTS_COMMIT_INTERVAL_MS = 250;
export const FACTS_COMMIT_ROWS_MAX = 1_500;
export const FACTS_QUEUE_ROWS_MAX = 200_000;
export const TELEMETRY_COMMIT_INTERVAL_MS = 5 * SECOND_MS;
export const TELEMETRY_QUEUE_ROWS_MAX = 500_000;
export const TELEMETRY_SENSORS_MAX = 200_000;
export const RESOURCE_SAMPLE_INTERVAL_MS = MINUTE_MS;

// Numbers of batches.
export const SEQUENCE_OPEN_GAPS_MAX = 1_024;
export const SEQUENCE_DIGESTS_PER_CHANNEL_MAX = 64;
export const SEQUENCE_LEDGERS_PER_SENSOR_MAX = 24;

// Inventories.
export const INVENTORY_WRITES_IN_FLIGHT_MAX = 64;
export const INVENTORY_LOOK_MS = 45 * SECOND_MS;
export const INVENTORY_LOOK_GATHER_MS = 1 * SECOND_MS;
export const INVENTORY_LOOK_SENSORS_MAX = 500;

// Stored events.
export const ANALYTICS_RETENTION_DAYS = 90;
export const EVENTS_LINES_MAX = 20_000;
export const SEARCH_TIMEOUT_MS = 10 * SECOND_MS;

// How the analytics database fares. ClickHouse slows inserts down at 1,000 parts of a partition and refuses them at 3,000.
export const ANALYTICS_LOOK_MS = 30 * SECOND_MS;
export const ANALYTICS_LOOKS_MIN = 2;
export const ANALYTICS_SLOW_MS = 5 * SECOND_MS;
export const ANALYTICS_PARTS_MANY = 900;
export const ANALYTICS_PARTS_MAX = 2_500;
export const ANALYTICS_MERGE_LONG_MS = 120 * MINUTE_MS;
export const ANALYTICS_DISK_LOW_RATIO = 0.1;
export const ANALYTICS_DISK_FULL_RATIO = 0.03;
