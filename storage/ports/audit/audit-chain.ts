// The chain over the audit log. Appending takes no lock; one sealer at a time gives unsealed rows their place and hash,
// and signs how far the chain reaches. decision: D35; invariant: I17
import type {
  AuditCheckpoint,
  AuditRow,
  ChainHead,
} from '../../../machines/trust/audit-trail.rules.ts';

export type { AuditCheckpoint, ChainHead };

/** SHA-256 of a row at its place, in lower-case hex. */
export type HashOf = (row: AuditRow, place: ChainHead) => string;

export type SealOutcome =
  /** Another Console seals now. */
  | { readonly isBusy: true }
  | {
      readonly isBusy: false;
      readonly sealed: number;
      readonly head: ChainHead;
      readonly checkpoint: Pick<AuditCheckpoint, 'sequence' | 'atMs'> | null;
    };

/**
 * Every call is one transaction under the database's one sealer lock, so a crash leaves all of it or nothing. With an
 * `epoch` it rejects with Overtaken, and writes nothing, once another Console is designated. decision: D60
 */
export type AuditChain = {
  /** Seals the next unsealed rows, at most `limit`, in id order. `place` of `hashOf` is the row's own sequence and the hash before it. */
  seal(request: {
    readonly limit: number;
    readonly hashOf: HashOf;
    readonly epoch?: number | undefined;
  }): Promise<SealOutcome>;
  /** Signs the head and stores it; null when another Console seals, or the head is signed already. */
  checkpoint(
    sign: (head: ChainHead) => AuditCheckpoint,
    epoch?: number,
  ): Promise<AuditCheckpoint | null>;
  /** Oldest first, above `after`. */
  checkpoints(query: {
    readonly after: number;
    readonly limit: number;
  }): Promise<readonly AuditCheckpoint[]>;
};
