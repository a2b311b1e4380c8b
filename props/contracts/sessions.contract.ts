// The promises of the store of sessions. invariant: I11, I18
import { describe, expect, it } from 'vitest';
import { SESSIONS_PER_USER_MAX } from '../../machines/console/access/limits.ts';
import type { Harness } from './away.ts';
import { addUser, CONTEXT, lastAudit, newSession, type PeoplePorts, turnOf } from './people.ts';
import { HOSTILE, hashOf, NOW_MS } from './samples.ts';

export function sessionsContract(harness: Harness<PeoplePorts>): void {
  const sessions = () => harness.port().sessions;
  const user = async () => (await addUser(harness.port().users)).userId;
  const turn = turnOf;

  describe('sessions', () => {
    it('should be found by their hash, and by nothing else', async () => {
      const userId = await user();
      const input = { ...newSession(userId), userAgent: HOSTILE, stage: 'partial' as const };
      expect(await sessions().create(input)).toBe(true);
      const row = {
        ...input,
        userAgent: HOSTILE.replace('\0', '\uFFFD'),
        lastSeenAtMs: NOW_MS,
        endedAtMs: null,
      };
      expect(await sessions().findByHash(input.hash)).toEqual(row);
      expect(await sessions().findByHash(hashOf('none'))).toBeNull();
      expect(await sessions().listOf(userId, NOW_MS)).toEqual([row]);
      await expect(sessions().create(input)).rejects.toThrow();
      expect(await sessions().create(newSession('nobody'))).toBe(false);
    });

    it('should go on under a new hash and id once, and the old be dead', async () => {
      const userId = await user();
      const old = { ...newSession(userId), stage: 'partial' as const };
      await sessions().create(old);
      const turns = Array.from({ length: 10 }, () => turn(old.hash));
      const answers = await Promise.all(turns.map((one) => sessions().rotate(one)));
      const won = answers.filter((one) => one !== null);
      expect(won.length).toBe(1);
      expect(won[0]).toMatchObject({
        ...{ userId, stage: 'full', method: 'password', address: old.address },
        ...{ createdAtMs: NOW_MS + 10, lastSeenAtMs: NOW_MS + 10, endedAtMs: null },
      });
      expect(await sessions().findByHash(old.hash)).toMatchObject({ endedAtMs: NOW_MS + 10 });
      expect(await sessions().listOf(userId, NOW_MS)).toEqual(won);
      expect(await sessions().rotate(turn(hashOf('none')))).toBeNull();
    });

    it('should not go on when they ended or are over', async () => {
      const userId = await user();
      const [ended, over] = [newSession(userId), newSession(userId)];
      for (const one of [ended, over]) await sessions().create(one);
      expect(await sessions().end({ ...CONTEXT, hash: ended.hash })).toBe(true);
      expect(await sessions().rotate(turn(ended.hash))).toBeNull();
      const late = { ...turn(over.hash), nowMs: over.expiresAtMs };
      expect(await sessions().rotate(late)).toBeNull();
    });

    it('should leave no session alive that a new password met on its way', async () => {
      const { userPasswords } = harness.port();
      for (let round = 0; round < 10; round += 1) {
        const userId = await user();
        const old = newSession(userId);
        await sessions().create(old);
        const own = newSession(userId);
        await sessions().create(own);
        const judged = {
          ...{ passwordHash: '$argon2id$first', role: 'viewer' as const, hasFactor: false },
        };
        const [, , kept] = await Promise.all([
          sessions().rotate(turn(old.hash)),
          sessions().create(newSession(userId), judged),
          userPasswords.setPassword({
            ...{ ...CONTEXT, userId, turn: turn(own.hash) },
            ...{ replaces: judged.passwordHash, passwordHash: `p${round}` },
          }),
        ]);
        expect(await sessions().listOf(userId, NOW_MS)).toEqual([kept]);
      }
    });

    it('should begin only while role and second factor are what was judged', async () => {
      const { users, secondFactors } = harness.port();
      const { userId, role } = await addUser(users);
      const judged = { role, hasFactor: false };
      const begin = () => sessions().create(newSession(userId), judged);
      expect(await begin()).toBe(true);
      const totp = { ...CONTEXT, userId, sealedSecret: 'sealed' };
      await secondFactors.beginTotp(totp);
      expect(await begin()).toBe(true);
      await secondFactors.confirmTotp({ ...totp, step: 1, recoveryHashes: [], keepSession: null });
      expect(await begin()).toBe(false);
      await secondFactors.removeTotp({ ...CONTEXT, userId, keepSession: null });
      expect(await begin()).toBe(true);
      const revision = (await users.get(userId))?.revision ?? 0;
      await users.change({ ...CONTEXT, userId, revision, patch: { role: 'analyst' } });
      expect(await begin()).toBe(false);
    });

    it('should keep when all credentials were shown, until they are shown again', async () => {
      const old = { ...newSession(await user()), authenticatedAtMs: 7 };
      await sessions().create(old);
      const part = { ...turn(old.hash), authenticatedAtMs: null };
      expect(await sessions().rotate(part)).toMatchObject({ authenticatedAtMs: 7 });
      const whole = turn(part.to);
      expect(await sessions().rotate(whole)).toMatchObject({ authenticatedAtMs: NOW_MS + 10 });
      expect(await sessions().findByHash(whole.to)).toMatchObject({ userId: old.userId });
    });

    it('should be bounded in number also when many begin at one instant', async () => {
      const userId = await user();
      const begin = (at: number) =>
        sessions().create({
          ...newSession(userId, { createdAtMs: NOW_MS + at }),
          expiresAtMs: NOW_MS + 90_000,
        });
      for (let at = 0; at < SESSIONS_PER_USER_MAX; at += 1) await begin(at);
      await Promise.all(Array.from({ length: 8 }, (_, at) => begin(1_000 + at)));
      expect((await sessions().listOf(userId, NOW_MS)).length).toBe(SESSIONS_PER_USER_MAX);
    });

    it('should not be pushed out by logins that never show the second factor', async () => {
      const userId = await user();
      const begin = (at: number, stage: 'partial' | 'full') =>
        sessions().create({
          ...newSession(userId, { createdAtMs: NOW_MS + at }),
          ...{ stage, expiresAtMs: NOW_MS + 90_000 },
        });
      for (let at = 0; at < SESSIONS_PER_USER_MAX; at += 1) await begin(at, 'full');
      for (let at = 0; at < 20; at += 1) await begin(1_000 + at, 'partial');
      const live = await sessions().listOf(userId, NOW_MS);
      // Whoever begins one can go on with it, and it takes one place.
      expect(live.map(({ stage }) => stage).filter((stage) => stage === 'partial').length).toBe(1);
      expect(live.length).toBe(SESSIONS_PER_USER_MAX);
      expect(live[0]?.createdAtMs).toBe(NOW_MS + 1_019);
    });

    it('should be bounded in number for a person: the oldest end', async () => {
      const userId = await user();
      const all = Array.from({ length: SESSIONS_PER_USER_MAX + 2 }, (_, at) => ({
        ...newSession(userId, { createdAtMs: NOW_MS + at }),
        expiresAtMs: NOW_MS + 90_000,
      }));
      for (const one of all) expect(await sessions().create(one)).toBe(true);
      const live = (await sessions().listOf(userId, NOW_MS)).map((one) => one.sessionId);
      expect(live).toEqual(
        all
          .slice(2)
          .map((one) => one.sessionId)
          .toReversed(),
      );
      expect(
        (await sessions().findByHash(all[0]?.hash ?? hashOf('none')))?.endedAtMs,
      ).not.toBeNull();
    });

    it('should remember the latest use, in batches', async () => {
      const one = newSession(await user());
      await sessions().create(one);
      const seen = async () => (await sessions().findByHash(one.hash))?.lastSeenAtMs;
      const { hash } = one;
      const batch = [5, 9, 7].map((later) => ({ hash, atMs: NOW_MS + later }));
      await sessions().touch([...batch, { hash: hashOf('none'), atMs: NOW_MS }]);
      expect(await seen()).toBe(NOW_MS + 9);
      await sessions().touch([{ hash, atMs: NOW_MS }]);
      await sessions().touch([]);
      expect(await seen()).toBe(NOW_MS + 9);
    });

    it('should be listed newest first while they live', async () => {
      const userId = await user();
      const [first, second, over] = [
        newSession(userId, { createdAtMs: NOW_MS }),
        newSession(userId, { createdAtMs: NOW_MS + 1 }),
        newSession(userId, { createdAtMs: NOW_MS - 60_000 }),
      ];
      for (const one of [first, second, over]) await sessions().create(one);
      const ids = (await sessions().listOf(userId, NOW_MS)).map((one) => one.sessionId);
      expect(ids).toEqual([second.sessionId, first.sessionId]);
    });

    it('should be ended by name by their owner only, once, and be audited', async () => {
      const [userId, other] = [await user(), await user()];
      const one = newSession(userId);
      await sessions().create(one);
      const { sessionId } = one;
      expect(await sessions().endOf({ ...CONTEXT, userId: other, sessionId })).toBe(false);
      expect(await sessions().endOf({ ...CONTEXT, userId, sessionId })).toBe(true);
      expect(await sessions().endOf({ ...CONTEXT, userId, sessionId })).toBe(false);
      const row = await lastAudit(harness.port().audit, 'session.end', sessionId);
      expect(row).toMatchObject({ actor: CONTEXT.actor, detail: { user_id: userId } });
      expect(JSON.stringify(row)).not.toContain(one.hash.toString('hex'));
    });

    it('should end all at once but the one kept', async () => {
      const userId = await user();
      const all = [newSession(userId), newSession(userId), newSession(userId)];
      for (const one of all) await sessions().create(one);
      const keep = all[1]?.hash ?? null;
      expect(await sessions().endAllOf({ ...CONTEXT, userId, keep })).toBe(2);
      expect((await sessions().listOf(userId, NOW_MS)).length).toBe(1);
      expect(await sessions().endAllOf({ ...CONTEXT, userId, keep: null })).toBe(1);
    });

    it('should be swept when they ended long ago', async () => {
      const userId = await user();
      const old = newSession(userId, { createdAtMs: 1_000 });
      const live = newSession(userId);
      for (const one of [old, live]) await sessions().create(one);
      expect(await sessions().sweep(old.expiresAtMs)).toBe(0);
      expect(await sessions().sweep(old.expiresAtMs + 1)).toBeGreaterThanOrEqual(1);
      expect(await sessions().findByHash(old.hash)).toBeNull();
      expect(await sessions().findByHash(live.hash)).not.toBeNull();
    });
  });
}
