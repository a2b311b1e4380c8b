// The numbers of the audit trail; every rule of `machines/limits.ts` holds here too.
import { MINUTE_MS, SECOND_MS } from '../../units.ts';

// The audit trail.
export const AUDIT_SEAL_INTERVAL_MS = 2 * SECOND_MS;
export const AUDIT_SEAL_BATCH_ROWS = 1_000;
export const AUDIT_SEAL_TIMEOUT_MS = 30 * SECOND_MS;
export const AUDIT_CHECKPOINT_INTERVAL_MS = MINUTE_MS;
export const AUDIT_CHECKPOINT_ROWS = 1_000;
export const AUDIT_TEXT_MAX_CHARS = 512;
export const AUDIT_FAULTS_TOLD_MAX = 100;
