// The reference store of policies. decision: D82
import { type PolicyDocument, WRITTEN_ONCE } from '../../../machines/console/policy/book.rules.ts';
import type { PolicyStore } from '../../ports/policy/policy-store.ts';
import type { MemoryAudit } from '../audit/audit-log.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';
import type { Fence } from '../runtime/designation.ts';
import type { RolloutMoves } from './rollout-store.ts';

export type PolicyCallsDeps = Pick<MemoryAudit, 'record'> & {
  /** Where transitions of rollouts are written. */
  readonly moves: RolloutMoves;
  readonly fence: Fence;
};

/** The calls on no document. */
export function policyCalls({ record, moves, fence }: PolicyCallsDeps): Calls<PolicyStore> {
  const rows = new Map<string, { readonly head: string; readonly body: string | null }>();
  let revision = 0;
  const keyOf = (kind: string, id: string) => `${kind} ${id}`;
  return {
    load() {
      const documents = [...rows].sort().map(([key, { head }]) => {
        const at = key.indexOf(' ');
        const [kind, id] = [key.slice(0, at), key.slice(at + 1)];
        return { kind, id, head: JSON.parse(head) } as PolicyDocument;
      });
      return { revision, documents };
    },
    revision: () => revision,
    body(kind, id): unknown {
      const body = rows.get(keyOf(kind, id))?.body ?? null;
      return body === null ? null : JSON.parse(body);
    },
    commit(input) {
      fence(input.epoch);
      if (input.revision !== revision) return null;
      for (const { kind, id } of input.changes) {
        if (WRITTEN_ONCE.includes(kind) && rows.has(keyOf(kind, id))) {
          throw new Error(`${kind} ${id} is there already and never changes`);
        }
      }
      for (const { rolloutId, sequence } of input.moves ?? []) {
        if (moves.get(rolloutId)?.some((one) => one.sequence === sequence) !== true) continue;
        throw new Error(`transition ${sequence} of rollout ${rolloutId} is there already`);
      }
      for (const change of input.changes) {
        const key = keyOf(change.kind, change.id);
        if (change.head === null) {
          rows.delete(key);
          continue;
        }
        const before = rows.get(key)?.body ?? null;
        const body = change.body === undefined ? before : JSON.stringify(change.body);
        rows.set(key, { head: JSON.stringify(change.head), body });
      }
      for (const move of input.moves ?? []) {
        moves.set(move.rolloutId, [...(moves.get(move.rolloutId) ?? []), structuredClone(move)]);
      }
      for (const entry of input.audit) record(entry);
      revision += 1;
      return revision;
    },
  };
}
