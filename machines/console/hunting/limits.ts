// The numbers of saved searches, investigations, exercises and correlation; every rule of `machines/limits.ts` holds here
// too.
import { DAY_MS, HOUR_MS, MIB, MINUTE_MS, SECOND_MS } from '../../units.ts';

// Saved searches.
export const SAVED_SEARCHES_MAX = 200;
export const SAVED_SEARCH_NAME_MAX_CHARS = 128;
export const SAVED_SEARCH_THRESHOLD_MAX = 1_000_000_000;
export const SAVED_SEARCH_WINDOW_MIN_MS = 10 * SECOND_MS;
export const SAVED_SEARCH_WINDOW_MAX_MS = 7 * DAY_MS;
export const SAVED_SEARCH_LOOK_MS = 5 * SECOND_MS;
/** Stretches that a window is counted in. */
export const SAVED_SEARCH_BUCKETS = 60;
/** Matches that are known by their ids, so that one that is received twice counts once. */
export const SAVED_SEARCH_IDS_MAX = 1_000;
/** Below so much of the threshold a crossing can be told again. */
export const SAVED_SEARCH_CALM_RATIO = 0.8;
/** A look that found nothing new is written after so long, at the latest. */
export const SAVED_SEARCH_KEEP_MS = MINUTE_MS;
export const SAVED_SEARCH_REFUSALS_MAX = 3;
export const SAVED_SEARCH_CATCH_UP_MAX_MS = DAY_MS;

// Investigations.
export const INVESTIGATIONS_MAX = 10_000;
export const INVESTIGATION_ITEMS_MAX = 5_000;
export const INVESTIGATION_NAME_MAX_CHARS = 200;
export const INVESTIGATION_TEXT_MAX_CHARS = 16_384;
export const INVESTIGATION_MOVES_MAX = 200;
export const INVESTIGATION_EVENTS_PER_ADD_MAX = 200;
export const INVESTIGATION_ARCHIVE_MAX_BYTES = 64 * MIB;

// Exercises.
export const EXERCISES_MAX = 1_000;
export const EXERCISE_NAME_MAX_CHARS = 128;
export const EXERCISE_SENSORS_MAX = 100;
export const EXERCISE_STEPS_MAX = 32;
export const EXERCISE_WINDOW_MIN_MS = MINUTE_MS;
export const EXERCISE_WINDOW_MAX_MS = DAY_MS;
/** Steps on sensors that one look may ask for. */
export const EXERCISE_PAIRS_MAX = 200;
export const EXERCISE_LOOK_MS = 10 * SECOND_MS;
/** After its window ends so long is waited for what is still on its way. */
export const EXERCISE_SETTLE_MS = 30 * SECOND_MS;
/** Of one step on its node. */
export const EXERCISE_STEP_TIMEOUT_MS = 30 * SECOND_MS;

// The same indicator on several sensors.
export const CORRELATION_LOOK_MS = 30 * SECOND_MS;
export const CORRELATION_WINDOW_MS = HOUR_MS;
export const CORRELATION_SENSORS_MIN = 3;
export const CORRELATION_SENSORS_NAMED_MAX = 50;
export const CORRELATION_VALUES_MAX = 200;

// What is usual from now on.
export const USUAL_MARKS_MAX = 2_000;
export const USUAL_REASON_MAX_CHARS = 512;
