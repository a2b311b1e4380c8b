// The numbers of packs and assignments on a Console; every rule of `machines/limits.ts` holds here too.
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../units.ts';

export const PACKS_MAX = 256;
export const PACK_VERSIONS_MAX = 1_000;
export const ASSIGNMENTS_MAX = 10_000;
export const ASSIGNMENT_PRIORITY_MAX = 1_000;
export const POLICY_COMMIT_TRIES_MAX = 8;
export const POLICY_FOLLOW_INTERVAL_MS = 5 * SECOND_MS;
export const POLICY_LABELS_READ_MAX = 1_000;
/** Rollouts under way at once. */
export const ROLLOUTS_OPEN_MAX = 64;
/** Ended ones that are kept; the oldest leave first. */
export const ROLLOUTS_KEPT_MAX = 256;
export const ROLLOUT_STAGES_MAX = 16;
export const ROLLOUT_NAMED_MAX = 100;
export const ROLLOUT_WAIT_MAX_MS = 7 * DAY_MS;
export const ROLLOUT_LOOK_INTERVAL_MS = 2 * SECOND_MS;
export const ROLLOUT_ANSWER_WITHIN_MS = 15 * MINUTE_MS;
/** Longest time that the end of a return waits for sensors that are heard. */
export const ROLLOUT_RETURN_WAIT_MS = 15 * MINUTE_MS;
export const ROLLOUT_STORM_PER_MINUTE = 60_000;
export const ROLLOUT_LOST_MAX = 1_000;
/** One sensor in so many may go stale before the gate fails, as the default. */
export const ROLLOUT_STALE_ONE_IN = 50;
export const ROLLOUT_LOOK_SENSORS_MAX = 1_000;
/** Sensors in one question of what their policies matched. */
export const POLICY_MATCH_SENSORS_MAX = 1_000;
/** What is told beside "enforce what was rehearsed". */
export const REHEARSAL_TOLD_MS = 7 * DAY_MS;
/** Sensors that are named for one policy; the others are counted. */
export const REHEARSAL_SENSORS_TOLD_MAX = 100;
