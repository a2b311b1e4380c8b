// Numbers of the Console's loops, and of the one Console that runs those of the whole fleet. What it tells and what it is
// told must fit: it stands down after 3 s of silence, and its session ends by itself after 8 s. decision: D60
const SECOND_MS = 1_000;

export const LOOP_RETRY_MIN_MS = 1 * SECOND_MS;
export const LOOP_RETRY_MAX_MS = 30 * SECOND_MS;
export const LOOP_RUN_TIMEOUT_MS = 30 * SECOND_MS;
export const LOOP_STOP_TIMEOUT_MS = 5 * SECOND_MS;
export const DESIGNATION_TRY_MS = 1 * SECOND_MS;
export const DESIGNATION_STAND_TIMEOUT_MS = 5 * SECOND_MS;
export const DESIGNATION_PROVE_MS = 2 * SECOND_MS;
export const DESIGNATION_ANSWER_MS = 1 * SECOND_MS;
export const DESIGNATION_SILENCE_MS = DESIGNATION_PROVE_MS + DESIGNATION_ANSWER_MS;
export const DESIGNATION_SESSION_IDLE_MS = 8 * SECOND_MS;
