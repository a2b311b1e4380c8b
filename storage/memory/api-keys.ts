// The reference store of API keys, by the hash of their secret. invariant: I11
import type { ApiKeyRow, ApiKeys } from '../ports/relational.ts';
import { storableText } from '../ports/stored-text.ts';
import { createAwaySwitch } from './away-switch.ts';
import { type Calls, portOf } from './unsafe-port-of.ts';

export type MemoryApiKeys = { readonly apiKeys: ApiKeys; setAway(away: boolean): void };

/** Makes an empty store on a switch. */
export function createMemoryApiKeys(): MemoryApiKeys {
  const { ask, setAway } = createAwaySwitch();
  return { setAway, apiKeys: portOf<ApiKeys>('api_keys', apiKeyCalls(), ask) };
}

/** The calls on an empty store. */
export function apiKeyCalls(): Calls<ApiKeys> {
  const byHash = new Map<string, ApiKeyRow>();

  function create(input: Parameters<ApiKeys['create']>[0]): void {
    const hash = input.hash.toString('hex');
    const { keyId, nowMs, expiresAtMs } = input;
    const isTaken = byHash.has(hash) || [...byHash.values()].some((one) => one.keyId === keyId);
    if (isTaken) throw new Error('a key with this id or hash exists');
    const [name, scopes] = [storableText(input.name), [...input.scopes]];
    const row = { keyId, name, scopes, createdAtMs: nowMs, expiresAtMs, revokedAtMs: null };
    byHash.set(hash, row);
  }

  function revoke({ keyId, nowMs }: { readonly keyId: string; readonly nowMs: number }): boolean {
    for (const [hash, row] of byHash) {
      if (row.keyId !== keyId) continue;
      byHash.set(hash, { ...row, revokedAtMs: row.revokedAtMs ?? nowMs });
      return true;
    }
    return false;
  }

  return {
    create,
    findByHash: (hash) => byHash.get(hash.toString('hex')) ?? null,
    list: () => [...byHash.values()].sort((a, b) => (a.keyId < b.keyId ? 1 : -1)),
    revoke,
  };
}
