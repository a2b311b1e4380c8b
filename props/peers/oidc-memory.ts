// What a provider of a test remembers, in a map that ends with it.
import type { Adapter, AdapterPayload } from 'oidc-provider';

/** Makes the memory of one provider, by the names of what it keeps. */
export function createOidcMemory(): (name: string) => Adapter {
  const kept = new Map<string, AdapterPayload>();
  return (name) => {
    const keyOf = (id: string) => `${name} ${id}`;
    const findBy = (field: 'uid' | 'userCode', value: string) =>
      [...kept].find(([key, one]) => key.startsWith(`${name} `) && one[field] === value)?.[1];
    return {
      upsert: async (id, payload) => void kept.set(keyOf(id), payload),
      find: async (id) => kept.get(keyOf(id)),
      findByUid: async (uid) => findBy('uid', uid),
      findByUserCode: async (code) => findBy('userCode', code),
      consume: async (id) => {
        const one = kept.get(keyOf(id));
        if (one !== undefined)
          kept.set(keyOf(id), { ...one, consumed: Math.floor(Date.now() / 1_000) });
      },
      destroy: async (id) => void kept.delete(keyOf(id)),
      revokeByGrantId: async (grantId) => {
        for (const [key, one] of kept) if (one.grantId === grantId) kept.delete(key);
      },
    };
  };
}
