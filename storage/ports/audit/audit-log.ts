// The audit log. Every method rejects with StoreUnavailable. decision: D35; invariant: I17

import type { AuditAction } from '../../../machines/audit-actions.ts';
import type { AuditFacts, AuditRow } from '../../../machines/trust/audit-trail.rules.ts';

export type { AuditFacts, AuditRow };

export type AuditEntry = {
  readonly atMs: number;
  readonly actor: string;
  readonly action: AuditAction;
  readonly target: string;
  readonly result: string;
  readonly detail: AuditFacts;
  /** The address that asked; absent for what the Console did by itself. */
  readonly from?: string | null | undefined;
  /** What the action found and what it left, when it changed something. */
  readonly before?: AuditFacts | null | undefined;
  readonly after?: AuditFacts | null | undefined;
};

export type AuditFilter = {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly result?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
};
export type AuditQuery = AuditFilter & {
  /** `newest`: by id, descending. `chain`: sealed rows by sequence, then the open tail by id. */
  readonly order: 'newest' | 'chain';
  /** The last row of the page before. */
  readonly after: Pick<AuditRow, 'auditId' | 'sequence'> | null;
  readonly limit: number;
};

/** Append-only record of operator and trust actions, refused ones included. Writers never wait for each other. */
export type AuditLog = {
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** Newest first. */
  recent(limit: number): Promise<readonly AuditRow[]>;
  /** One page; exact matches, `fromMs` included and `toMs` not. */
  search(query: AuditQuery): Promise<readonly AuditRow[]>;
};
