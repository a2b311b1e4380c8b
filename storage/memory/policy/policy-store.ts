// The reference store of policies. decision: D82
import { type PolicyDocument, WRITTEN_ONCE } from '../../../machines/console/policy/book.rules.ts';
import type { PolicyStore } from '../../ports/policy/policy-store.ts';
import type { MemoryAudit } from '../audit/audit-log.ts';
import { createAwaySwitch } from '../plumbing/away-switch.ts';
import { type Calls, portOf } from '../plumbing/unsafe-port-of.ts';

export type MemoryPolicies = { readonly policies: PolicyStore; setAway(away: boolean): void };

/** Makes an empty store on a switch; changes are written to the log. */
export function createMemoryPolicies(log: Pick<MemoryAudit, 'record'>): MemoryPolicies {
  const { ask, setAway } = createAwaySwitch();
  return { setAway, policies: portOf<PolicyStore>('policies', policyCalls(log), ask) };
}

/** The calls on no document. */
export function policyCalls(log: Pick<MemoryAudit, 'record'>): Calls<PolicyStore> {
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
      if (input.revision !== revision) return null;
      for (const { kind, id } of input.changes) {
        if (WRITTEN_ONCE.includes(kind) && rows.has(keyOf(kind, id))) {
          throw new Error(`${kind} ${id} is there already and never changes`);
        }
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
      for (const entry of input.audit) log.record(entry);
      revision += 1;
      return revision;
    },
  };
}
