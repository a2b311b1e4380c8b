// The numbers of deliveries to webhooks; every rule of `machines/limits.ts` holds here too.
import { DAY_MS, HOUR_MS, KIB, MINUTE_MS, SECOND_MS } from '../../units.ts';

// What an operator may set up.
export const WEBHOOKS_MAX = 100;
export const WEBHOOK_NAME_MAX_CHARS = 128;
export const WEBHOOK_URL_MAX_CHARS = 2_048;
export const WEBHOOK_SECRET_MIN_CHARS = 16;
export const WEBHOOK_SECRET_MAX_CHARS = 512;
export const WEBHOOK_SECRET_BYTES = 32;
export const WEBHOOK_CA_MAX_CHARS = 65_536;
export const WEBHOOK_GROUPS_MAX = 64;
export const WEBHOOK_RULES_MAX = 64;
export const WEBHOOK_RULE_ID_MAX_CHARS = 128;
export const WEBHOOK_ROTATION_DEFAULT_MS = DAY_MS;
export const WEBHOOK_ROTATION_MAX_MS = 30 * DAY_MS;
export const WEBHOOK_RATE_DEFAULT_PER_MINUTE = 600;
export const WEBHOOK_RATE_MAX_PER_MINUTE = 60_000;

// Attempts, and when they end.
export const DELIVERY_GIVE_UP_MS = DAY_MS;
export const DELIVERY_BACKOFF_MIN_MS = 5 * SECOND_MS;
export const DELIVERY_BACKOFF_MAX_MS = HOUR_MS;
export const DELIVERY_JITTER_RATIO = 0.2;
export const DELIVERY_RETRY_AFTER_MAX_MS = HOUR_MS;
export const DELIVERY_LEASE_MS = MINUTE_MS;
export const IDENTITY_CONFLICT_WATCH_MS = MINUTE_MS;
/** Of one sensor between two looks. */
export const IDENTITY_CONFLICT_MATCHES_MAX = 100;
export const DELIVERY_LOOK_MS = 1 * SECOND_MS;
export const DELIVERIES_CLAIMED_MAX = 400;
export const DELIVERIES_RUNNING_MAX = 400;
export const DELIVERIES_RUNNING_PER_WEBHOOK_MAX = 20;
export const DELIVERIES_WAITING_PER_WEBHOOK_MAX = 10_000;
/** A connection to a receiver that says nothing; shorter than receivers usually keep one. */
export const OUTBOUND_KEPT_MS = 2 * SECOND_MS;
export const DELIVERY_ATTEMPTS_KEPT_MAX = 50;
export const DELIVERY_ANSWER_MAX_BYTES = 64 * KIB;
export const DELIVERY_EXCERPT_MAX_CHARS = 4_096;
export const DELIVERIES_KEPT_MS = 30 * DAY_MS;
export const DELIVERIES_REMOVED_PER_RUN_MAX = 1_000;
export const DELIVERIES_REPLAYED_MAX = 1_000;
export const DEAD_LETTERS_TELL_MS = HOUR_MS;

// The breaker of a destination.
export const BREAKER_FAILURES_MAX = 5;
export const BREAKER_OPEN_MIN_MS = 30 * SECOND_MS;
export const BREAKER_OPEN_MAX_MS = 10 * MINUTE_MS;

// What sensors' moves become.
export const ALERTS_POSTED_MAX = 500;
export const ALERT_WATCH_MS = 1 * SECOND_MS;
export const ALERT_WATCH_WHOLE_MS = 5 * MINUTE_MS;
