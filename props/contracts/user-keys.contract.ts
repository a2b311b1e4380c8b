// The promises of the API keys that people make: bounded, told apart by their maker, gone with it. decision: D43
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { API_KEYS_ENDED_KEPT_MAX, API_KEYS_PER_USER_MAX } from '../../machines/limits.ts';
import type { ApiKeys } from '../../storage/ports/access/api-keys.ts';
import type { Harness } from './away.ts';
import { addUser, newSession, type PeoplePorts } from './people.ts';
import { hashOf, hex, NOW_MS } from './samples.ts';

type Ports = PeoplePorts & { readonly apiKeys: ApiKeys };

export function userKeysContract({ port }: Pick<Harness<Ports>, 'port'>): void {
  const doing = { nowMs: NOW_MS, actor: 'op' };
  const keys = () => port().apiKeys;
  const newUser = async () => (await addUser(port().users)).userId;
  const ofUser = (userId: string) => keys().list({ userId, limit: 1_000, before: null });
  const keyOf = (userId: string, expiresAtMs: number | null = NOW_MS + 1) => ({
    ...{ keyId: randomUUID(), hash: hashOf(hex(16)), name: 'k', scopes: ['events:read'] },
    ...{ ...doing, userId, expiresAtMs },
  });

  describe('API keys of people', () => {
    it('should be listed and revoked for their maker only', async () => {
      const [one, other] = [await newUser(), await newUser()];
      const key = keyOf(one);
      expect(await keys().create(key)).toBe('created');
      expect(await keys().create(keyOf(other))).toBe('created');
      expect((await ofUser(one)).map(({ keyId }) => keyId)).toEqual([key.keyId]);
      const { keyId } = key;
      expect(await keys().revoke({ ...doing, keyId, userId: other })).toBeNull();
      expect(await keys().findByHash(key.hash)).toMatchObject({ userId: one, revokedAtMs: null });
      expect(await keys().revoke({ ...doing, keyId, userId: one })).toMatchObject({ keyId });
      expect(await keys().get(keyId)).toMatchObject({ keyId, userId: one });
      expect(await keys().get('none\0')).toBeNull();
      const [row] = await ofUser(one);
      expect(row?.revokedAtMs).toBe(NOW_MS);
      const told = await port().audit.search({
        target: keyId,
        order: 'newest',
        after: null,
        limit: 3,
      });
      expect(told.map(({ action, result }) => `${action} ${result}`)).toEqual([
        ...['api_key.revoke ok', 'api_key.revoke not_found', 'api_key.create ok'],
      ]);
      expect(told.at(-1)?.after).toMatchObject({ user_id: one });
    });

    it('should be bounded in number as long as they can be used, also when made at once', async () => {
      const userId = await newUser();
      const ended = keyOf(userId, NOW_MS);
      const forever = keyOf(userId, null);
      expect(await keys().create(ended)).toBe('created');
      expect(await keys().create(forever)).toBe('created');
      const answers = await Promise.all(
        Array.from({ length: API_KEYS_PER_USER_MAX + 1 }, () => keys().create(keyOf(userId))),
      );
      const made = answers.filter((answer) => answer === 'created').length;
      expect(made).toBe(API_KEYS_PER_USER_MAX - 1);
      expect(new Set(answers)).toEqual(new Set(['created', 'too_many']));
      await keys().revoke({ ...doing, keyId: forever.keyId });
      expect(await keys().create(keyOf(userId))).toBe('created');
      expect(await keys().create(keyOf(userId))).toBe('too_many');
    });

    it('should keep only the newest of those that ended', async () => {
      const userId = await newUser();
      const ids = [];
      for (let index = 0; index < API_KEYS_ENDED_KEPT_MAX + 2; index += 1) {
        const keyId = `${String(index).padStart(4, '0')}-${hex(8)}`;
        ids.push(keyId);
        expect(await keys().create({ ...keyOf(userId, NOW_MS), keyId })).toBe('created');
      }
      const last = keyOf(userId);
      await keys().create(last);
      const kept = (await ofUser(userId)).map(({ keyId }) => keyId);
      expect(kept.filter((id) => id !== last.keyId)).toEqual(ids.slice(2).toReversed());
    });

    it('should be made by a session that lives, or not at all', async () => {
      const [userId, other] = [await newUser(), await newUser()];
      const { sessions } = port();
      const [own, ended, foreign] = [newSession(userId), newSession(userId), newSession(other)];
      for (const one of [own, ended, foreign]) await sessions.create(one);
      await sessions.end({ ...doing, hash: ended.hash });
      const make = (bySession: Buffer) => keys().create({ ...keyOf(userId), bySession });
      expect(await make(ended.hash)).toBe('no_session');
      expect(await make(foreign.hash)).toBe('no_session');
      expect(await ofUser(userId)).toEqual([]);
      expect(await make(own.hash)).toBe('created');
    });

    it('should end with a reset, unless they are kept', async () => {
      for (const keepsKeys of [false, true]) {
        const [userId, other] = [await newUser(), await newUser()];
        const [own, foreign, linkHash] = [keyOf(userId), keyOf(other), hashOf(hex(16))];
        for (const key of [own, foreign]) await keys().create(key);
        await port().passwordLinks.createLink({
          ...{ ...doing, userId, hash: linkHash, expiresAtMs: NOW_MS + 1 },
        });
        const used = { ...doing, hash: linkHash, passwordHash: 'new', keepsKeys };
        expect(await port().passwordLinks.useLink(used)).toMatchObject({ userId });
        const end = async (hash: Buffer) => (await keys().findByHash(hash))?.revokedAtMs;
        expect(await end(own.hash)).toBe(keepsKeys ? null : NOW_MS);
        expect(await end(foreign.hash)).toBeNull();
      }
    });

    it('should be gone with their maker', async () => {
      const userId = await newUser();
      const key = keyOf(userId);
      await keys().create(key);
      expect(await port().users.remove({ ...doing, userId })).toBe('ok');
      expect(await keys().findByHash(key.hash)).toBeNull();
      expect(await ofUser(userId)).toEqual([]);
      expect(await keys().create(keyOf(userId))).toBe('no_user');
    });
  });
}
