// The promises of the store of security keys and challenges. invariant: I11, I18; decision: D73
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SECURITY_KEYS_PER_USER_MAX } from '../../machines/limits.ts';
import type { Harness } from './away.ts';
import { addUser, CONTEXT, lastAudit, newSession, type PeoplePorts } from './people.ts';
import { HOSTILE, hex, NOW_MS } from './samples.ts';

export function securityKeysContract(harness: Harness<PeoplePorts>): void {
  const port = () => harness.port().securityKeys;
  const newKey = (more: object = {}) => ({
    ...{ keyId: randomUUID(), credentialId: hex(16), publicKey: Buffer.from([1, 2]), counter: 0 },
    ...{ name: 'blue', transports: ['nfc', 'usb'], ...more },
  });

  async function personWithFactor() {
    const { users, secondFactors, sessions } = harness.port();
    const { userId } = await addUser(users);
    const own = newSession(userId);
    await sessions.create(own);
    const totp = { ...CONTEXT, userId, sealedSecret: 'sealed' };
    await secondFactors.beginTotp(totp);
    const on = { ...totp, step: 1, recoveryHashes: [], keepSession: own.hash };
    await secondFactors.confirmTotp(on);
    const add = (key: ReturnType<typeof newKey>, bySession = own.hash) =>
      port().add({ ...CONTEXT, userId, bySession, key });
    return { userId, session: own.hash, add };
  }

  describe('security keys', () => {
    it('should be kept as they are, and be told in the audit log', async () => {
      const { userId, add } = await personWithFactor();
      const key = newKey({ name: HOSTILE });
      expect(await add(key)).toBe('added');
      const row = { ...key, userId, name: HOSTILE.replace('\0', '\uFFFD') };
      expect(await port().listOf(userId)).toEqual([{ ...row, madeAtMs: NOW_MS, usedAtMs: null }]);
      const told = await lastAudit(harness.port().audit, 'mfa.key_add', userId);
      expect(told).toMatchObject({ after: { key_id: key.keyId }, before: null });
      expect(await port().listOf('nobody')).toEqual([]);
    });

    it('should be of one person, bounded, and beside a factor in a live session only', async () => {
      const [ann, bob] = [await personWithFactor(), await personWithFactor()];
      const key = newKey();
      expect(await ann.add(key)).toBe('added');
      expect(await bob.add({ ...newKey(), credentialId: key.credentialId })).toBe('known');
      expect(await bob.add(newKey(), ann.session)).toBe('no_session');
      const { userId } = await addUser(harness.port().users);
      const bare = { ...CONTEXT, userId, bySession: ann.session, key: newKey() };
      expect(await port().add(bare)).toBe('no_factor');
      const all = Array.from({ length: SECURITY_KEYS_PER_USER_MAX + 2 }, () => bob.add(newKey()));
      const added = (await Promise.all(all)).filter((one) => one === 'added');
      expect(added.length).toBe(SECURITY_KEYS_PER_USER_MAX);
    });

    it('should count on, once at one instant, and never back', async () => {
      const { userId, add } = await personWithFactor();
      const [still, counts] = [newKey(), newKey({ counter: 5 })];
      for (const key of [still, counts]) await add(key);
      const use = (keyId: string, counter: number, by = userId) =>
        port().use({ userId: by, keyId, counter, nowMs: NOW_MS + 7 });
      expect(await use(still.keyId, 0)).toBe(true);
      expect(await use(still.keyId, 0)).toBe(true);
      expect(await use(counts.keyId, 5)).toBe(false);
      expect(await use(counts.keyId, 0)).toBe(false);
      expect(await use(counts.keyId, 6, 'nobody')).toBe(false);
      const many = await Promise.all([6, 6, 6].map((counter) => use(counts.keyId, counter)));
      expect(many.filter(Boolean).length).toBe(1);
      const rows = await port().listOf(userId);
      expect(rows.map(({ usedAtMs }) => usedAtMs)).toEqual([NOW_MS + 7, NOW_MS + 7]);
      expect(await use(counts.keyId, 4_294_967_295)).toBe(true);
    });

    it('should go by the hand of their person, with the factor, and with the account', async () => {
      const { users, secondFactors } = harness.port();
      const { userId, session: bySession, add } = await personWithFactor();
      const other = await personWithFactor();
      const key = newKey();
      await add(key);
      const remove = (input: object) =>
        port().remove({ ...CONTEXT, userId, keyId: key.keyId, bySession, ...input });
      expect(await remove({ userId: other.userId, bySession: other.session })).toBe(false);
      expect(await remove({ bySession: other.session })).toBe(false);
      expect(await remove({})).toBe(true);
      expect(await remove({})).toBe(false);
      await add(key);
      await secondFactors.removeTotp({ ...CONTEXT, userId, keepSession: null });
      expect(await port().listOf(userId)).toEqual([]);
      const last = newKey();
      await other.add(last);
      await users.remove({ ...CONTEXT, userId: other.userId });
      expect(await port().listOf(other.userId)).toEqual([]);
    });
  });

  describe('challenges of security keys', () => {
    it('should be taken once, in time, for their session and purpose, the last one alone', async () => {
      const { session } = await personWithFactor();
      const put = (challenge: string, purpose: 'add' | 'use' = 'use') =>
        port().putChallenge({
          ...{ session, purpose, challenge },
          ...{ nowMs: NOW_MS, expiresAtMs: NOW_MS + 10 },
        });
      const take = (nowMs = NOW_MS, of = session) =>
        port().takeChallenge({ session: of, purpose: 'use', nowMs });
      expect(await put('first')).toBe(true);
      expect(await put('other', 'add')).toBe(true);
      expect(await put('second')).toBe(true);
      expect(await take(NOW_MS, Buffer.from('none'))).toBeNull();
      const taken = await Promise.all([take(), take(), take()]);
      expect(taken.filter((one) => one !== null)).toEqual(['second']);
      await put('late');
      expect(await take(NOW_MS + 10)).toBeNull();
      expect(await take()).toBeNull();
    });

    it('should be put for a live session only', async () => {
      const { session } = await personWithFactor();
      const put = () =>
        port().putChallenge({
          ...{ session, purpose: 'use', challenge: 'c' },
          ...{ nowMs: NOW_MS, expiresAtMs: NOW_MS + 10 },
        });
      await harness.port().sessions.end({ ...CONTEXT, hash: session });
      expect(await put()).toBe(false);
    });
  });
}
