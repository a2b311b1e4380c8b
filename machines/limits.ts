// Every number with a meaning, its unit last in its name. The first part is the specification's Limits table; the
// second part bounds what the specification leaves open. The relations at the end are asserted when the module loads,
// so a wrong edit cannot start. Names listed in INTERVALS can be shortened by configuration. decision: D20

import {
  SEEN_WRITE_INTERVAL_MS,
  SESSION_ABSOLUTE_MS,
  SESSION_IDLE_MS,
} from './console/access/limits.ts';
import {
  FACTS_COMMIT_INTERVAL_MS,
  RESOURCE_SAMPLE_INTERVAL_MS,
  SINK_COMMIT_INTERVAL_MS,
  TELEMETRY_COMMIT_INTERVAL_MS,
} from './console/telemetry/limits.ts';
import {
  CERTIFICATE_BACKDATE_MS,
  CLIENT_CERTIFICATE_TTL_MS,
  ENROLLMENT_TOKEN_TTL_MS,
  PREVIOUS_CERTIFICATE_OVERLAP_MS,
} from './console/trust/limits.ts';
import {
  BASELINE_SAVE_INTERVAL_MS,
  BASELINE_TELL_INTERVAL_MS,
  BASELINE_WARM_UP_MS,
} from './pipeline-limits.ts';
import { HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from './units.ts';

// One line for each capability that declares numbers of its own.
export * from './console/access/limits.ts';
export * from './console/audit/limits.ts';
export * from './console/delivery/limits.ts';
export * from './console/detection/limits.ts';
export * from './console/digest/limits.ts';
export * from './console/exports/limits.ts';
export * from './console/fleet/limits.ts';
export * from './console/hunting/limits.ts';
export * from './console/license/limits.ts';
export * from './console/policy/limits.ts';
export * from './console/settings/limits.ts';
export * from './console/siem/limits.ts';
export * from './console/telemetry/limits.ts';
export * from './console/trust/limits.ts';
export * from './detection/limits.ts';

// The specification's table, row by row.
export const HEARTBEAT_INTERVAL_MS = 15 * SECOND_MS;
export const STREAM_TICK_MS = 500;
export const STREAM_PING_INTERVAL_MS = 10 * SECOND_MS;
export const RECONNECT_BACKOFF_MIN_MS = 1 * SECOND_MS;
export const RECONNECT_BACKOFF_MAX_MS = 30 * SECOND_MS;
export const STALENESS_WINDOW_MS = 90 * SECOND_MS;
export const SPOOL_EVENTS_MAX = 100_000;
export const SPOOL_DRAIN_PER_HEARTBEAT = 100;
export const EVENTS_BODY_MAX_BYTES = 4 * MIB;
export const INVENTORY_BODY_MAX_BYTES = 2 * MIB;
export const RENEWAL_RECOMMENDED_MS = 72 * HOUR_MS;
export const RENEWAL_DUE_MS = 86_400 * SECOND_MS;
export const TRUST_ERROR_WINDOW_MS = 15 * MINUTE_MS;
export const LICENSE_GRACE_DAYS = 30;
export const LICENSE_GRACE_DAYS_MAX = 365;
export const RATE_LIMIT_OPERATOR_PER_MINUTE = 1_000;
export const RATE_LIMIT_ANALYST_PER_MINUTE = 300;
export const RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE = 200;
export const FEDERATION_PUSH_INTERVAL_MS = 300 * SECOND_MS;
export const WEBHOOK_TIMEOUT_MS = 10 * SECOND_MS;
export const PAGERDUTY_SUMMARY_MAX_CHARS = 1_024;
export const OPSGENIE_MESSAGE_MAX_CHARS = 130;
export const OPSGENIE_DESCRIPTION_MAX_CHARS = 15_000;
export const CASE_TITLE_MAX_CHARS = 512;
export const QUEUE_RECOMMENDED_NODES = 1_500;

// Sensor plane.
export const HEARTBEAT_BODY_MAX_BYTES = 4 * MIB;
export const ENROLL_BODY_MAX_BYTES = 64 * KIB;
export const OPERATOR_BODY_MAX_BYTES = 1 * MIB;
export const JSON_DEPTH_MAX = 32;
export const HEARTBEAT_INTERVAL_MIN_MS = 5 * SECOND_MS;
export const HEARTBEAT_INTERVAL_MAX_MS = 30 * SECOND_MS;
export const STREAM_FRAME_MAX_BYTES = 1 * MIB;
export const STREAM_BACKPRESSURE_MAX_BYTES = 1 * MIB;
export const STREAM_IDLE_TIMEOUT_S = 32;
export const STREAM_MISSED_PONGS_MAX = 2;
export const STREAM_IDENTITY_CHECK_MS = 5 * SECOND_MS;
export const STREAM_OPEN_TIMEOUT_MS = 10 * SECOND_MS;
export const STREAM_ACK_TIMEOUT_MS = 30 * SECOND_MS;
/** What of a body over its limit is read and dropped, so that the refusal reaches a peer that is still sending. */
export const BODY_DRAIN_MAX_BYTES = 32 * MIB;
export const BODY_READ_TIMEOUT_MS = 10 * SECOND_MS;
export const REQUEST_HEADERS_MAX = 64;
export const REQUEST_TARGET_MAX_CHARS = 4_096;
export const PEER_FINGERPRINTS_CACHED_MAX = 200_000;
export const ZSTD_WINDOW_MAX_LOG2 = 23;
export const ZSTD_INLINE_MAX_BYTES = 8 * KIB;
export const DRAINING_LISTENERS_MAX = 2;
export const SENSOR_LANE_WAITING_MAX = 32;
export const INVENTORY_ITEMS_MAX = 50_000;
export const BASELINE_NAMES_MAX = 64;
export const BASELINE_NAME_MAX_CHARS = 512;
export const STREAM_SOCKETS_PER_SENSOR_MAX = 4;
export const REQUEST_TIMEOUT_MS = 20 * SECOND_MS;
export const RETRY_AFTER_STORE_MS = 5 * SECOND_MS;
export const RATE_LIMIT_WINDOW_MS = MINUTE_MS;

// Group commit and the stores.
export const TRANSITIONS_QUEUE_MAX = 50_000;
export const TRANSITIONS_COMMIT_INTERVAL_MS = 1 * SECOND_MS;
export const DATABASE_TIMEOUT_MS = 5 * SECOND_MS;
export const DATABASE_CONNECTIONS_MAX = 10;
export const DATABASE_CONNECT_TIMEOUT_MS = 3 * SECOND_MS;
export const DATABASE_LOCK_TIMEOUT_MS = 4 * SECOND_MS;
export const PAGE_ITEMS_DEFAULT = 50;
export const PAGE_ITEMS_MAX = 500;

// Actors.
export const WHEEL_TICK_MS = 50;
export const CLOCK_JUMP_MS = 1 * SECOND_MS;
export const CLOCK_CHECK_INTERVAL_MS = 1 * SECOND_MS;
/** Statecharts that a node tells of itself. */
export const NODE_MACHINES_MAX = 16;
export const FEED_EVENTS_MAX = 10_000;
export const FEED_PER_ACTOR_MAX = 32;
export const ACTOR_RESTARTS_MAX = 5;
export const ACTOR_RESTART_WINDOW_MS = MINUTE_MS;
export const CRASH_RECORDS_MAX = 200;
export const SIGNAL_REPEAT_MS = 1 * SECOND_MS;
export const LOCAL_SENSOR_RESTART_MS = 2 * SECOND_MS;
export const FLEET_SWEEP_INTERVAL_MS = 1 * SECOND_MS;
export const LIVE_PATCHES_PER_SECOND = 4;
export const LIVE_SUBSCRIPTIONS_MAX = 32;
export const STORE_START_TIMEOUT_MS = 60 * SECOND_MS;
export const STORE_STOP_TIMEOUT_MS = 15 * SECOND_MS;
export const STORE_PROBE_INTERVAL_MS = 5 * SECOND_MS;
export const STORE_PROBE_TIMEOUT_MS = 10 * SECOND_MS;
export const STORE_PROBE_FAILURES_MAX = 3;
export const STORE_BACKOFF_MIN_MS = 1 * SECOND_MS;
export const STORE_BACKOFF_MAX_MS = 30 * SECOND_MS;
export const EMBEDDED_BODY_MAX_BYTES = 64 * MIB;
export const EMBEDDED_RESULT_MAX_BYTES = 64 * MIB;
export const EMBEDDED_MEMORY_MAX_BYTES = 2_048 * MIB;
export const EMBEDDED_QUERIES_WAITING_MAX = 200;
export const STORE_RESTARTS_MAX = 10;
export const STORE_FIRST_STARTS_MAX = 3;
export const STORE_RESTART_WINDOW_MS = 5 * MINUTE_MS;
export const STARTUP_STEP_TIMEOUT_MS = 120 * SECOND_MS;

// Sensor program.
export const HEARTBEAT_TIMEOUT_MS = 10 * SECOND_MS;
export const HEARTBEAT_EVENTS_MAX = 1_000;
export const HEARTBEAT_JITTER_RATIO = 0.1;
export const DRAIN_BODY_TARGET_BYTES = 2 * MIB;
export const STREAM_FRAME_EVENTS_MAX = 500;
export const POLICY_SCAN_INTERVAL_MS = 5 * SECOND_MS;
export const ENGINE_START_TIMEOUT_MS = 30 * SECOND_MS;
export const ENGINE_HANG_TIMEOUT_MS = 30 * SECOND_MS;
export const ENGINE_RESTART_BACKOFF_MIN_MS = 1 * SECOND_MS;
export const ENGINE_RESTART_BACKOFF_MAX_MS = 60 * SECOND_MS;
export const ENGINE_RESTARTS_MAX = 10;
export const ENGINE_RESTART_WINDOW_MS = 10 * MINUTE_MS;
export const ENGINE_STOP_TIMEOUT_MS = 5 * SECOND_MS;
export const ENGINE_FALLBACK_FAILURES = 5;
// How often it is looked whether what would run is still what runs.
export const ENGINE_UPGRADE_LOOK_MS = 60 * SECOND_MS;
export const WATCHDOG_BEAT_MS = 5 * SECOND_MS;
export const WATCHDOG_SILENCE_MS = 60 * SECOND_MS;
export const ENGINE_MEMORY_MAX_BYTES = 256 * MIB;
export const EXPORT_CHUNK_BYTES = 256 * KIB;
export const EXPORT_LINE_MAX_BYTES = 1 * MIB;
export const EXPORT_HEAD_BYTES = 256;
export const EXPORT_HEAD_LINE_MAX_BYTES = 1 * KIB;
export const EXPORT_RUN_MAX_CHARS = 80;
export const ENROLLMENT_RETRY_MIN_MS = 1 * SECOND_MS;
export const ENROLLMENT_RETRY_MAX_MS = 60 * SECOND_MS;
export const RENEWAL_RETRY_MIN_MS = 5 * SECOND_MS;
export const RENEWAL_RETRY_MAX_MS = 15 * MINUTE_MS;
export const RENEWAL_CHECK_MAX_MS = 24 * HOUR_MS;
export const STOP_TIMEOUT_MS = 10 * SECOND_MS;
export const INVENTORY_INTERVAL_MS = 5 * MINUTE_MS;
export const INVENTORY_REPEAT_MS = HOUR_MS;
export const SKEW_TOLERATED_MS = 5 * MINUTE_MS;
export const SPOOL_RETRY_MIN_MS = 1 * SECOND_MS;
export const SPOOL_RETRY_MAX_MS = 30 * SECOND_MS;
export const SPOOL_COMPACTION_MIN_BYTES = 4 * MIB;
export const SPOOL_COPY_CHUNK_BYTES = 1 * MIB;
export const LOSS_HOURS_MAX = 48;
export const LOSS_REPORTS_OPEN_MAX = 16;
export const PAUSE_MAX_MS = 10 * MINUTE_MS;
export const RETRY_AFTER_MAX_MS = HOUR_MS;
export const HEARTBEAT_SOON_MS = 250;
export const INVENTORY_PROCESS_LOOKS_MAX = 20_000;
export const REPORTED_SOCKETS_MAX = 5_000;
export const REPORTED_FLOWS_MAX = 1_000;
export const COLLECTOR_READS_PER_TICK_MAX = 40;
export const TROUBLE_SAVE_INTERVAL_MS = MINUTE_MS;
export const DISK_FREE_MIN_BYTES = 256 * MIB;

// Operator plane, live channel and the command line.
export const OPERATOR_EXPORT_PAGE_ROWS = 1_000;
export const OPERATOR_EXPORT_ROWS_MAX = 1_000_000;
/** Brief rows of one question, and of one request: what follows is asked for with the cursor. */
export const SENSORS_SCANNED_AT_ONCE = 2_500;
export const SENSORS_SCANNED_MAX = 100_000;
export const PROBE_SHARED_MS = 500;
export const TOKEN_TTL_MAX_MS = 24 * HOUR_MS;
export const RATE_LIMIT_KEYS_MAX = 100_000;
export const KEYS_REMEMBERED_MAX = 1_000;
export const LIVE_SOCKETS_MAX = 1_000;
export const LIVE_ITEMS_PER_PATCH_MAX = 200;
export const LIVE_BACKPRESSURE_MAX_BYTES = 1 * MIB;
/** Sent only while less than a quarter of that waits, so that it never ends a channel by itself. */
export const LIVE_PATCH_MAX_BYTES = 512 * KIB;
export const LIVE_MESSAGE_MAX_BYTES = 64 * KIB;
export const LIVE_IDLE_TIMEOUT_S = 60;
export const LIVE_KEY_CHECK_INTERVAL_MS = 5 * SECOND_MS;
export const LIVE_SLOW_READER_MS = 10 * SECOND_MS;
export const COMMAND_TIMEOUT_MS = 30 * SECOND_MS;
export const COMMAND_WATCH_INTERVAL_MS = 2 * SECOND_MS;
export const COMMAND_ANSWER_MAX_BYTES = 64 * MIB;

/** Intervals an operator or a test may override by name in either program's `intervals:`. */
export const INTERVALS = {
  HEARTBEAT_INTERVAL_MS,
  STREAM_TICK_MS,
  STREAM_PING_INTERVAL_MS,
  RECONNECT_BACKOFF_MIN_MS,
  RECONNECT_BACKOFF_MAX_MS,
  STALENESS_WINDOW_MS,
  ENROLLMENT_TOKEN_TTL_MS,
  CLIENT_CERTIFICATE_TTL_MS,
  RENEWAL_RECOMMENDED_MS,
  RENEWAL_DUE_MS,
  TRUST_ERROR_WINDOW_MS,
  PREVIOUS_CERTIFICATE_OVERLAP_MS,
  CERTIFICATE_BACKDATE_MS,
  HEARTBEAT_TIMEOUT_MS,
  STREAM_OPEN_TIMEOUT_MS,
  STREAM_ACK_TIMEOUT_MS,
  STREAM_IDENTITY_CHECK_MS,
  BODY_READ_TIMEOUT_MS,
  SINK_COMMIT_INTERVAL_MS,
  FACTS_COMMIT_INTERVAL_MS,
  TRANSITIONS_COMMIT_INTERVAL_MS,
  TELEMETRY_COMMIT_INTERVAL_MS,
  RESOURCE_SAMPLE_INTERVAL_MS,
  RETRY_AFTER_STORE_MS,
  STORE_PROBE_INTERVAL_MS,
  POLICY_SCAN_INTERVAL_MS,
  ENGINE_START_TIMEOUT_MS,
  ENGINE_HANG_TIMEOUT_MS,
  ENGINE_RESTART_BACKOFF_MIN_MS,
  ENGINE_RESTART_BACKOFF_MAX_MS,
  ENGINE_RESTART_WINDOW_MS,
  ENGINE_UPGRADE_LOOK_MS,
  ENROLLMENT_RETRY_MIN_MS,
  ENROLLMENT_RETRY_MAX_MS,
  RENEWAL_RETRY_MIN_MS,
  RENEWAL_RETRY_MAX_MS,
  INVENTORY_INTERVAL_MS,
  INVENTORY_REPEAT_MS,
  BASELINE_WARM_UP_MS,
  BASELINE_SAVE_INTERVAL_MS,
  BASELINE_TELL_INTERVAL_MS,
  SESSION_IDLE_MS,
  SESSION_ABSOLUTE_MS,
  SEEN_WRITE_INTERVAL_MS,
  STOP_TIMEOUT_MS,
  SPOOL_RETRY_MIN_MS,
  SPOOL_RETRY_MAX_MS,
} as const;
export type IntervalName = keyof typeof INTERVALS;
export type Intervals = Readonly<Record<IntervalName, number>>;
