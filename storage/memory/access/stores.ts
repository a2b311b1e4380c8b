// The reference stores of this capability, as calls on one state: who is removed or reset loses keys as well.
import type { ApiKeyRow } from '../../ports/access/api-keys.ts';
import type { AccessStores } from '../../ports/access/stores.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { apiKeyCalls, endKeysOf } from './api-keys.ts';
import { peopleCalls } from './people.ts';
import type { PeopleState, RecordEntry } from './people-state.ts';
import { ssoCalls } from './sso-store.ts';

export type AccessMemory = {
  readonly stores: StoreCalls<AccessStores>;
  /** Whether a person exists, for the fakes whose rows point at one. */
  has(userId: string): boolean;
  readonly state: PeopleState;
  /** By the hash of the secret. */
  readonly keys: Map<string, ApiKeyRow>;
};

/** The calls on nobody; `onKeyEnded` is told of each key that ends with its owner's password. */
export function accessMemory(
  record: RecordEntry,
  onKeyEnded: (keyId: string) => void = () => undefined,
): AccessMemory {
  const { has, isLive, onRemoved, onReset, state, ...people } = peopleCalls(record);
  const keys = new Map<string, ApiKeyRow>();
  onRemoved((userId) => {
    for (const [hash, row] of keys) if (row.userId === userId) keys.delete(hash);
  });
  onReset((userId, nowMs) => {
    const ended = endKeysOf(keys, { userId, nowMs });
    ended.forEach(onKeyEnded);
    return ended.length;
  });
  const stores = {
    ...people,
    apiKeys: apiKeyCalls(record, has, keys, isLive),
    sso: ssoCalls(record),
  };
  return { stores, has, state, keys };
}
