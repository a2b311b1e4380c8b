// The numbers of packs and assignments on a Console; every rule of `machines/limits.ts` holds here too.
import { SECOND_MS } from '../../units.ts';

export const PACKS_MAX = 256;
export const PACK_VERSIONS_MAX = 1_000;
export const ASSIGNMENTS_MAX = 10_000;
export const ASSIGNMENT_PRIORITY_MAX = 1_000;
export const POLICY_COMMIT_TRIES_MAX = 8;
export const POLICY_FOLLOW_INTERVAL_MS = 5 * SECOND_MS;
export const POLICY_LABELS_READ_MAX = 1_000;
