// Packs, their versions, who is assigned what, and the keys: each act is judged on the book in memory and committed on that
// book's revision; when somebody else was faster it is judged again. decision: D82
import {
  type AssignmentRow,
  bookOf,
  type PolicyBook,
  type PolicyChange,
  type PolicyDocument,
  rotationsOf,
} from '../../machines/console/policy/book.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { POLICY_COMMIT_TRIES_MAX } from '../../machines/limits.ts';
import type { AuditEntry } from '../../storage/ports/audit/audit-log.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { PolicyStore } from '../../storage/ports/policy/policy-store.ts';
import type { RolloutMove } from '../../storage/ports/policy/rollout-store.ts';
import type { Logger } from '../runtime/logger.ts';
import { createLooks } from '../runtime/looks.ts';
import { type KeysInForce, keysInForce } from './trusted-keys.ts';

/** What an act comes to on one book: what changes and what is told of it. */
export type Judged<T> =
  | {
      readonly ok: true;
      readonly answer: T;
      readonly changes: readonly PolicyChange[];
      readonly audit: readonly AuditEntry[];
      /** Transitions of rollouts. */
      readonly moves?: readonly RolloutMove[];
    }
  | Refusal;
export type Acted<T> = { readonly ok: true; readonly answer: T } | Refusal;

export type BookService = {
  readonly book: () => PolicyBook;
  readonly keys: () => KeysInForce;
  /** Judges and commits. Rejects with StoreUnavailable, and with Overtaken under an epoch that is over. decision: D60 */
  act<T>(nowMs: number, judge: (book: PolicyBook) => Judged<T>, epoch?: number): Promise<Acted<T>>;
  /** Reads the book again when another Console changed it. */
  follow(): Promise<void>;
  /** The database may be another one, which came to the same revision by other changes: the next look reads everything. */
  doubt(): void;
  /** Called after the book is another one. */
  subscribe(listener: () => void): () => void;
  readonly store: Pick<PolicyStore, 'body'>;
};

/** Opens the book. Rejects with StoreUnavailable. */
export async function openBook(deps: {
  readonly store: PolicyStore;
  readonly logger: Logger;
}): Promise<BookService> {
  const { store } = deps;
  const listeners = new Set<() => void>();
  let book = bookOf(0, []);
  let keys = keysInForce(book);
  let chain = chainOf(book);
  let [doubts, settled] = [0, 0];
  const looks = createLooks();

  function take(revision: number, documents: readonly PolicyDocument[]): void {
    book = bookOf(revision, documents);
    // Verifying every statement takes a tenth of a second; few changes add one.
    const next = chainOf(book);
    if (next !== chain) keys = keysInForce(book);
    chain = next;
    for (const listener of listeners) listener();
  }

  async function load(): Promise<void> {
    const isNewest = looks.begin();
    const { revision, documents } = await store.load();
    // A slower answer must not bring an older book back; a database that went back has to. decision: D171
    if (isNewest()) take(revision, documents);
  }

  await load();
  return {
    book: () => book,
    keys: () => keys,
    store,
    async act(nowMs, judge, epoch) {
      for (let tried = 0; tried < POLICY_COMMIT_TRIES_MAX; tried += 1) {
        const on = book;
        const judged = judge(on);
        if (!judged.ok) return judged;
        const { changes, audit, moves = [], answer } = judged;
        const next = await store.commit({
          ...{ revision: on.revision, nowMs, changes, audit, moves },
          ...(epoch === undefined ? {} : { epoch }),
        });
        // What was asked before the commit knows less.
        if (next !== null) looks.outdate();
        await load();
        if (next !== null) return { ok: true, answer };
      }
      return refuse('overloaded', 'Too many changes of policies at once.', {
        retryAfterMs: RETRY_MS,
      });
    },
    async follow() {
      const own = doubts;
      if (own !== settled || (await store.revision()) !== book.revision) await load();
      settled = own;
    },
    doubt() {
      doubts += 1;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const RETRY_MS = 1_000;

/** What the keys in force follow from. */
function chainOf(book: PolicyBook): string {
  return JSON.stringify([[...book.keyBases.values()], rotationsOf(book)]);
}

/** One audit row of an act. */
export function entryOf(
  doing: AuditContext,
  what: Pick<AuditEntry, 'action' | 'target'> &
    Partial<Pick<AuditEntry, 'before' | 'after' | 'detail'>>,
): AuditEntry {
  return {
    atMs: doing.nowMs,
    actor: doing.actor,
    from: doing.from,
    result: 'ok',
    detail: {},
    ...what,
  };
}

/** An assignment as the audit trail has it. */
export function factsOfAssignment(
  row: AssignmentRow,
  manifestSha256: string,
): Readonly<Record<string, unknown>> {
  return {
    assignment_id: row.assignmentId,
    target: `${row.target.kind}:${row.target.id}`,
    pack_id: row.packId,
    version: row.version,
    manifest_sha256: manifestSha256,
    mode: row.mode,
    namespace_scope: row.namespaceScope,
  };
}
