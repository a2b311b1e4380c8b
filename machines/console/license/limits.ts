// The numbers of licenses; every rule of `machines/limits.ts` holds here too.
import { KIB, MINUTE_MS } from '../../units.ts';

// Licenses.
export const LICENSE_BODY_MAX_BYTES = 16 * KIB;
export const LICENSE_TEXT_MAX_CHARS = 256;
export const LICENSE_NODES_MAX = 10_000_000;
export const LICENSE_NOTICE_DAYS = 14;
export const LICENSE_EVALUATION_NODES = 10_000;
export const LICENSE_EVALUATION_DAYS = 90;
export const LICENSE_CHECK_MAX_MS = MINUTE_MS;
export const LICENSE_ALERT_MS = MINUTE_MS;
export const LICENSE_LOOK_INTERVAL_MS = MINUTE_MS;
export const LICENSE_SECRET_MIN_CHARS = 32;
export const LICENSE_SECRET_BYTES = 32;
export const LICENSE_SERVICE_CONNECTIONS_MAX = 64;
