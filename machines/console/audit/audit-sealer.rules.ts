// When the sealer goes on at once, and when it signs a checkpoint. decision: D35
import {
  AUDIT_CHECKPOINT_INTERVAL_MS,
  AUDIT_CHECKPOINT_ROWS,
  AUDIT_SEAL_BATCH_ROWS,
} from '../../limits.ts';

/** What one round of sealing did; `isBusy` when another Console seals. */
export type SealRound =
  | { readonly isBusy: true }
  | {
      readonly isBusy: false;
      readonly atMs: number;
      readonly sealed: number;
      readonly headSequence: number;
      readonly checkpoint: { readonly sequence: number; readonly atMs: number } | null;
    };

/** A full batch: more rows may wait. */
export function isFull(round: SealRound): boolean {
  return !round.isBusy && round.sealed >= AUDIT_SEAL_BATCH_ROWS;
}

/** Whether rows wait for a signature too long, or too many of them. A clock that went back counts as too long. */
export function isCheckpointDue(round: SealRound): boolean {
  if (round.isBusy) return false;
  const { checkpoint, headSequence, atMs } = round;
  const unsigned = headSequence - (checkpoint?.sequence ?? 0);
  if (unsigned <= 0) return false;
  if (checkpoint === null || unsigned >= AUDIT_CHECKPOINT_ROWS) return true;
  return atMs < checkpoint.atMs || atMs - checkpoint.atMs >= AUDIT_CHECKPOINT_INTERVAL_MS;
}

/** Rows that a checkpoint signed are gone from the end of the chain. */
export function isCutOff(round: SealRound): boolean {
  return !round.isBusy && round.headSequence < (round.checkpoint?.sequence ?? 0);
}
