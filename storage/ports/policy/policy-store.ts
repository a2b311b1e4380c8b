// What is kept of policies: documents of a few kinds under one revision. Every method rejects with StoreUnavailable. A commit
// counts whole or not at all, with its audit rows, and only on the revision it was judged on. decision: D82
import type {
  DocumentKind,
  PolicyChange,
  PolicyDocument,
} from '../../../machines/console/policy/book.rules.ts';
import type { AuditEntry } from '../audit/audit-log.ts';
import type { RolloutMove } from './rollout-store.ts';

export type PolicyStore = {
  /** Every document without its body, and the revision they are of. */
  load(): Promise<{ readonly revision: number; readonly documents: readonly PolicyDocument[] }>;
  revision(): Promise<number>;
  /** Null when there is no such document, or it has none. */
  body(kind: DocumentKind, id: string): Promise<unknown>;
  /**
   * Gives the new revision; null when `revision` is no longer the one in force, and then nothing changes. Rejects when a
   * document that is written once is there already. With an epoch it rejects with Overtaken, and writes nothing, once
   * another Console is designated. decision: D60
   */
  commit(input: {
    readonly revision: number;
    readonly nowMs: number;
    readonly changes: readonly PolicyChange[];
    readonly audit: readonly AuditEntry[];
    /** Transitions of rollouts; each is written once. */
    readonly moves?: readonly RolloutMove[];
    readonly epoch?: number;
  }): Promise<number | null>;
};
