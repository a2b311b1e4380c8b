// The numbers of the export to Parquet; every rule of `machines/limits.ts` holds here too.
import { DAY_MS, HOUR_MS, MIB, MINUTE_MS, SECOND_MS } from '../../units.ts';

/** A day is exported once it is over for so long, so that what was on its way is stored. */
export const EXPORT_GRACE_MS = HOUR_MS;
export const EXPORT_LOOK_MS = MINUTE_MS;
export const EXPORT_STEP_TIMEOUT_MS = 10 * MINUTE_MS;
export const EXPORT_LEASE_MS = 15 * MINUTE_MS;
export const EXPORT_DAYS_PLANNED_MAX = 1_000;
export const EXPORT_PART_ROWS_MAX = 50_000;
/** Every part reads the day once: a very large day has larger parts instead of more. */
export const EXPORT_PARTS_MAX = 64;
export const EXPORT_UPLOAD_CHUNK_BYTES = 8 * MIB;
export const EXPORT_REQUEST_TIMEOUT_MS = MINUTE_MS;
export const EXPORT_TEST_TIMEOUT_MS = 30 * SECOND_MS;
export const EXPORT_ANSWER_MAX_BYTES = MIB;
export const EXPORT_FOOTER_MAX_BYTES = 16 * MIB;
export const EXPORT_RESULT_MAX_BYTES = 512 * MIB;
export const EXPORT_BACKOFF_MIN_MS = MINUTE_MS;
export const EXPORT_BACKOFF_MAX_MS = HOUR_MS;
export const EXPORT_JITTER_RATIO = 0.2;
export const EXPORT_GIVE_UP_MS = 7 * DAY_MS;
/** Longer than the days that are planned at most: what is removed is out of every plan's sight. */
export const EXPORT_RUNS_KEPT_MS = 1_100 * DAY_MS;
export const EXPORT_RUNS_REMOVED_MAX = 1_000;
export const EXPORT_REASON_MAX_CHARS = 512;

// What an operator may set up.
export const EXPORT_ENDPOINT_MAX_CHARS = 2_048;
export const EXPORT_NAME_MAX_CHARS = 256;
export const EXPORT_SECRET_MAX_CHARS = 512;
export const EXPORT_CA_MAX_CHARS = 65_536;
