// The bounds of operator access beyond what the first of them needed: evidence of use, refused credentials, step-up. The rules
// of `limits.ts` hold here too: the unit last in the name, a row in LIMITS.md.
const MINUTE_MS = 60_000;

export const SESSIONS_PER_USER_MAX = 50;
export const LOGIN_EVIDENCE_ROWS_MAX = 100;
/** How long after it showed its credentials a session may do what asks for them anew. */
export const FRESH_LOGIN_MS = 10 * MINUTE_MS;
/** Refused credentials are told once a place and this time. */
export const REFUSALS_TOLD_EVERY_MS = MINUTE_MS;
export const REFUSAL_PLACES_MAX = 1_000;
