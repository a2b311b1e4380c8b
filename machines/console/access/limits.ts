// The numbers of people, sessions, keys and request budgets; every rule of `machines/limits.ts` holds here too.
import { DAY_MS, HOUR_MS, KIB, MINUTE_MS, SECOND_MS } from '../../units.ts';

// API keys.
export const API_KEY_TTL_DEFAULT_MS = 90 * DAY_MS;
export const API_KEY_TTL_MAX_MS = 365 * DAY_MS;
/** From when on whoever uses a key is told that it ends. */
export const API_KEY_ENDS_SOON_MS = 14 * DAY_MS;
export const API_KEYS_PER_USER_MAX = 20;
export const API_KEYS_ENDED_KEPT_MAX = 100;

// Sessions of people and the uses of credentials.
export const SESSION_IDLE_MS = HOUR_MS;
export const SESSION_ABSOLUTE_MS = 12 * HOUR_MS;
export const SEEN_WRITE_INTERVAL_MS = MINUTE_MS;
export const SEEN_BATCH_MAX = 10_000;

// Request budgets that Consoles share.
export const SHARED_LIMITS_COMMAND_TIMEOUT_MS = 100;
export const SHARED_LIMITS_LAST_READ_MS = 1;
export const SHARED_LIMITS_LOOK_TIMEOUT_MS = 200;
export const SHARED_LIMITS_CHECK_INTERVAL_MS = 250;
export const SHARED_LIMITS_RETRY_MS = 500;
export const SHARED_LIMITS_GOOD_LOOKS = 2;

// Logins through identity providers.
export const SSO_FLOW_TTL_MS = 10 * MINUTE_MS;
export const SSO_FLOWS_MAX = 10_000;
export const SSO_REQUEST_TIMEOUT_MS = 5 * SECOND_MS;
export const SSO_EXCHANGE_TIMEOUT_MS = 15 * SECOND_MS;
export const SSO_ACCOUNT_TIMEOUT_MS = 10 * SECOND_MS;
export const SSO_ANSWER_MAX_BYTES = 256 * KIB;
export const SSO_METADATA_TTL_MS = 10 * MINUTE_MS;
export const SSO_RETRY_AFTER_MS = 5 * SECOND_MS;
export const SSO_PROVIDERS_MAX = 32;
export const SSO_RANDOM_BYTES = 32;
export const SSO_ISSUER_MAX_CHARS = 512;
export const SSO_TEXT_MAX_CHARS = 256;
export const SSO_SECRET_MAX_CHARS = 2_048;
export const SSO_CA_MAX_CHARS = 65_536;
export const SSO_SCOPES_MAX = 16;
export const SSO_DOMAINS_MAX = 64;
export const SSO_GROUPS_MAX = 256;
export const SSO_CLAIMED_GROUPS_MAX = 2_000;

// Second factors.
export const TOTP_SECRET_BYTES = 20;
export const TOTP_STEP_MS = 30 * SECOND_MS;
export const TOTP_DIGITS = 6;
export const TOTP_WINDOW_STEPS = 1;
export const MFA_TRIES_MAX = 5;
export const MFA_TRIES_WINDOW_MS = 15 * MINUTE_MS;
export const MFA_CODE_MAX_CHARS = 64;
export const RECOVERY_CODES_COUNT = 10;
export const RECOVERY_CODE_BYTES = 15;
/** Of codes that were given out before; they stay good until they are replaced. */
export const RECOVERY_CODE_OLD_BYTES = 10;

// Security keys.
export const SECURITY_KEYS_PER_USER_MAX = 10;
export const SECURITY_KEY_NAME_MAX_CHARS = 64;
export const SECURITY_KEY_CHALLENGE_BYTES = 32;
export const SECURITY_KEY_CHALLENGE_TTL_MS = 5 * MINUTE_MS;
/** Of one text of an answer; what keys say of themselves is a few hundred bytes. */
export const SECURITY_KEY_TEXT_MAX_CHARS = 16_384;

// People: accounts, passwords, sessions and throttled logins.
export const EMAIL_MAX_CHARS = 254;
export const DISPLAY_NAME_MAX_CHARS = 128;
export const USER_TAGS_MAX = 32;
export const PASSWORD_MIN_CHARS = 8;
export const PASSWORD_MAX_CHARS = 128;
export const PASSWORD_MEMORY_KIB = 19_456;
export const PASSWORD_PASSES = 2;
export const PASSWORD_LANES = 1;
/** What a hash from outside may cost at most: each login pays it. */
export const PASSWORD_MEMORY_MAX_KIB = 1_048_576;
export const PASSWORD_PASSES_MAX = 16;
export const PASSWORD_LANES_MAX = 16;
export const PASSWORD_SALT_BYTES_MIN = 16;
export const PASSWORD_TAG_BYTES_MIN = 32;
export const PASSWORD_HASHES_RUNNING_MAX = 2;
export const PASSWORD_HASHES_WAITING_MAX = 64;
export const PASSWORD_BUSY_RETRY_MS = 1 * SECOND_MS;
export const LOGIN_WINDOW_MS = 15 * MINUTE_MS;
/** How long a site that logged in is known, so that failures of others do not hold it. */
export const LOGIN_KNOWN_SITE_MS = 30 * DAY_MS;
export const LOGIN_KNOWN_SITES_ROWS_MAX = 50;
export const LOGIN_ACCOUNT_TRIES_FREE = 5;
export const LOGIN_ADDRESS_TRIES_FREE = 20;
export const LOGIN_DELAY_MIN_MS = 5 * SECOND_MS;
export const LOGIN_DELAY_MAX_MS = 5 * MINUTE_MS;
export const SESSION_PARTIAL_MS = 10 * MINUTE_MS;
export const SESSION_RANDOM_BYTES = 32;
export const USER_AGENT_MAX_CHARS = 256;
export const SECRET_TEXT_MAX_CHARS = 1_024;
export const RESET_LINK_TTL_MS = HOUR_MS;
export const ACCESS_SWEEP_INTERVAL_MS = 10 * MINUTE_MS;
export const ENDED_SESSIONS_KEPT_MS = 7 * DAY_MS;

// Evidence of use, refused credentials, step-up
export const SESSIONS_PER_USER_MAX = 50;
export const LOGIN_EVIDENCE_ROWS_MAX = 100;
/** How long after it showed its credentials a session may do what asks for them anew. */
export const FRESH_LOGIN_MS = 10 * MINUTE_MS;
/** Refused credentials are told once a place and this time. */
export const REFUSALS_TOLD_EVERY_MS = MINUTE_MS;
export const REFUSAL_PLACES_MAX = 1_000;
export const SETUP_REFUSALS_KEPT_MAX = 1_000;
