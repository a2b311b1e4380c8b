// The reference store of API keys, by the hash of their secret. invariant: I11
import { auditOfKeyCreate, auditOfKeyRevoke } from '../ports/audit-entries.ts';
import type { ApiKeyRow, ApiKeys, AuditEntry } from '../ports/relational.ts';
import { storableText } from '../ports/stored-text.ts';
import { createAwaySwitch } from './away-switch.ts';
import { type Calls, portOf } from './unsafe-port-of.ts';

type RecordEntry = (entry: AuditEntry) => void;
export type MemoryApiKeys = { readonly apiKeys: ApiKeys; setAway(away: boolean): void };

/** Makes an empty store on a switch. */
export function createMemoryApiKeys(record?: RecordEntry): MemoryApiKeys {
  const { ask, setAway } = createAwaySwitch();
  return { setAway, apiKeys: portOf<ApiKeys>('api_keys', apiKeyCalls(record), ask) };
}

/** The calls on an empty store. */
export function apiKeyCalls(record: RecordEntry = () => undefined): Calls<ApiKeys> {
  const byHash = new Map<string, ApiKeyRow>();

  function create(input: Parameters<ApiKeys['create']>[0]): void {
    const hash = input.hash.toString('hex');
    const { keyId, nowMs, expiresAtMs, userId = null } = input;
    const isTaken = byHash.has(hash) || [...byHash.values()].some((one) => one.keyId === keyId);
    if (isTaken) throw new Error('a key with this id or hash exists');
    const [name, scopes] = [storableText(input.name), [...input.scopes]];
    byHash.set(hash, {
      ...{ keyId, name, scopes, userId, createdAtMs: nowMs, expiresAtMs },
      ...{ lastUsedAtMs: null, revokedAtMs: null },
    });
    record(auditOfKeyCreate(input));
  }

  function revoke(input: Parameters<ApiKeys['revoke']>[0]): boolean {
    const { keyId, nowMs } = input;
    const found = [...byHash].find(([, row]) => row.keyId === keyId);
    const isOpen = found?.[1].revokedAtMs === null;
    record(
      auditOfKeyRevoke(input, found === undefined ? 'not_found' : isOpen ? 'ok' : 'unchanged'),
    );
    if (found === undefined) return false;
    const [hash, row] = found;
    byHash.set(hash, { ...row, revokedAtMs: row.revokedAtMs ?? nowMs });
    return true;
  }

  return {
    create,
    findByHash: (hash) => byHash.get(hash.toString('hex')) ?? null,
    touch(seen) {
      for (const { hash, atMs } of seen) {
        const row = byHash.get(hash.toString('hex'));
        const lastUsedAtMs = Math.max(atMs, row?.lastUsedAtMs ?? 0);
        if (row !== undefined) byHash.set(hash.toString('hex'), { ...row, lastUsedAtMs });
      }
    },
    list: () => [...byHash.values()].sort((a, b) => (a.keyId < b.keyId ? 1 : -1)),
    revoke,
  };
}
