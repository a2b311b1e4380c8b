// The numbers of the daily digest; every rule of `machines/limits.ts` holds here too.
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../units.ts';

// What an operator may set up.
export const DIGESTS_MAX = 64;
export const DIGEST_RECIPIENTS_MAX = 32;
export const DIGEST_NAME_MAX_CHARS = 128;
export const DIGEST_ADDRESS_MAX_CHARS = 254;
export const DIGEST_HOST_MAX_CHARS = 253;
export const DIGEST_USER_MAX_CHARS = 256;
export const DIGEST_SECRET_MAX_CHARS = 512;

// When it is looked, and how a day is tried.
export const DIGEST_LOOK_MS = 30 * SECOND_MS;
export const DIGEST_TIMEOUT_MS = 30 * SECOND_MS;
export const DIGEST_STEP_TIMEOUT_MS = 3 * MINUTE_MS;
export const DIGEST_LEASE_MS = 10 * MINUTE_MS;
export const DIGEST_BACKOFF_MIN_MS = MINUTE_MS;
export const DIGEST_BACKOFF_MAX_MS = 30 * MINUTE_MS;
export const DIGEST_JITTER_RATIO = 0.2;
export const DIGEST_GIVE_UP_MS = 6 * HOUR_MS;
export const DIGEST_REASON_MAX_CHARS = 512;
/** Days that were missed in a row are written down up to so many. */
export const DIGEST_MISSED_MAX = 31;
export const DIGEST_RUNS_KEPT_MS = 400 * DAY_MS;
export const DIGEST_RUNS_REMOVED_MAX = 1_000;
/** What is longer ago is not told any more; less than alerts are kept, as their names say what was told. */
export const DIGEST_TOLD_BACK_MS = 60 * DAY_MS;

// What one tells.
export const DIGEST_ALERTS_SHOWN_MAX = 10;
export const DIGEST_ALERTS_READ_MAX = 5_000;
export const DIGEST_ITEMS_SHOWN_MAX = 20;
export const DIGEST_PROGRAMS_READ_MAX = 200;
export const DIGEST_PROGRAM_SENSORS_MAX = 1_000;
/** A program is new when none of the fleet ran it for so long before. */
export const DIGEST_PROGRAMS_BACK_MS = 14 * DAY_MS;
export const DIGEST_CERTIFICATE_SOON_MS = 3 * DAY_MS;
export const DIGEST_LICENSE_SOON_MS = 30 * DAY_MS;
export const DIGEST_TEXT_MAX_CHARS = 160;
