// The numbers of settings and the first run; every rule of `machines/limits.ts` holds here too.
import { KIB, MINUTE_MS, SECOND_MS } from '../../units.ts';

// Settings and the first run.
export const RETENTION_DAYS_MAX = 3_650;
export const TOKEN_TTL_MIN_MS = MINUTE_MS;
export const SESSION_LIFETIME_HOURS_MAX = 720;
export const SETTING_TEXT_MAX_CHARS = 128;
export const WEBHOOK_ALLOW_LIST_MAX = 100;
export const SETTINGS_LOOK_INTERVAL_MS = 2 * SECOND_MS;
export const RETENTION_CHECK_MS = 10 * MINUTE_MS;
export const SETUP_CODE_ATTEMPTS_PER_MINUTE = 10;
export const SETUP_CONNECT_TIMEOUT_MS = 5 * SECOND_MS;
export const SETUP_RESTART_DELAY_MS = 500;
export const PROVISIONING_FILE_MAX_BYTES = 256 * KIB;
export const POSTGRESQL_VERSION_MIN = 14;
