// The numbers of event forwarding; every rule of `machines/limits.ts` holds here too.
import { DAY_MS, KIB, MIB, MINUTE_MS, SECOND_MS } from '../../units.ts';

// What an operator may set up.
export const SIEM_DESTINATIONS_MAX = 16;
export const SIEM_TOKEN_MAX_CHARS = 2_048;
export const SIEM_LABEL_MAX_CHARS = 256;
export const SIEM_START_BACK_MAX_MS = 400 * DAY_MS;

// Batches, and how they are tried.
export const SIEM_LOOK_MS = 2 * SECOND_MS;
export const SIEM_TIMEOUT_MS = 30 * SECOND_MS;
export const SIEM_BATCH_EVENTS_MAX = 2_000;
export const SIEM_PROBE_EVENTS_MAX = 10;
export const SIEM_WINDOW_MS = 15 * MINUTE_MS;
export const SIEM_BACKOFF_MIN_MS = 2 * SECOND_MS;
export const SIEM_BACKOFF_MAX_MS = 10 * MINUTE_MS;
export const SIEM_RETRY_AFTER_MAX_MS = 60 * MINUTE_MS;
export const SIEM_FAILURES_MAX = 5;
export const SIEM_REFUSED_IN_ROW_MAX = 10;

// What a receiver takes at once; those of the makers' documentation, with room for what is around the events.
export const SIEM_OBSERVE_BATCH_MAX_BYTES = 9 * MIB;
export const SIEM_HUNTRESS_BATCH_MAX_BYTES = 1 * MIB;
export const SIEM_SUMOLOGIC_BATCH_MAX_BYTES = 1_000_000;
export const SIEM_SYSLOG_BATCH_MAX_BYTES = 1 * MIB;
export const SIEM_SYSLOG_MESSAGE_MAX_BYTES = 64 * KIB;
export const SIEM_OTLP_BATCH_MAX_BYTES = 4 * MIB;

// How far events are settled in the event store.
export const SINK_FLOOR_TELL_MS = 2 * SECOND_MS;
export const SINK_FLOOR_LEASE_MS = 2 * MINUTE_MS;
export const SINK_LATE_WRITE_MS = 1 * MINUTE_MS;
