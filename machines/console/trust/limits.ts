// The numbers of tokens, certificates and the end of trust; every rule of `machines/limits.ts` holds here too.
import { DAY_MS, HOUR_MS, KIB, MINUTE_MS, SECOND_MS } from '../../units.ts';

// Tokens and certificates of sensors.
export const ENROLLMENT_TOKEN_TTL_MS = 15 * MINUTE_MS;
export const CLIENT_CERTIFICATE_TTL_MS = 720 * HOUR_MS;
export const PREVIOUS_CERTIFICATE_OVERLAP_MS = 24 * HOUR_MS;
export const CSR_MAX_BYTES = 16 * KIB;
export const CERTIFICATE_BACKDATE_MS = 5 * MINUTE_MS;

// How soon an end of trust is known everywhere.
export const REVOCATION_VIEW_MAX_AGE_MS = 5 * SECOND_MS;
export const IDENTITY_CACHE_REFRESH_MS = 2 * SECOND_MS;
export const IDENTITY_WATCH_KEEPALIVE_MS = 1 * SECOND_MS;
export const IDENTITY_WATCH_TIMEOUT_MS = 2 * SECOND_MS;
export const IDENTITY_WATCH_BACKOFF_MIN_MS = 100;
export const IDENTITY_WATCH_BACKOFF_MAX_MS = 5 * SECOND_MS;

// Certificates of the Console.
export const SERVER_RENEWAL_CHECK_MS = HOUR_MS;
export const ROOT_CERTIFICATE_TTL_MS = 3_650 * DAY_MS;
export const SERVER_CERTIFICATE_TTL_MS = 90 * DAY_MS;
/** How long the keys that seal and sign should serve; changing them is a command. */
export const KEY_LIFETIME_MS = 730 * DAY_MS;
/** Of a Sensor's key. Smaller ones, down to the old least, are taken for one lifetime of a certificate. */
export const SENSOR_KEY_BITS = 3_072;
export const SENSOR_KEY_OLD_BITS = 2_048;
export const RSA_KEY_MAX_BITS = 4_096;
export const RSA_ROOT_KEY_BITS = 3_072;
export const RSA_PUBLIC_EXPONENT = 65_537;
