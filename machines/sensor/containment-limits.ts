// The numbers of containment on a node; every rule of `machines/limits.ts` holds here too.
export const NFT_TIMEOUT_MS = 10_000;
export const NFT_OUTPUT_MAX_BYTES = 1_048_576;
/** A start waits so long for rules that a crash left to be restored. */
export const CONTAINMENT_RESTORE_TIMEOUT_MS = 30_000;
