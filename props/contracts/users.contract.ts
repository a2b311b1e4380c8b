// The promises of the store of people: accounts, passwords and links. invariant: I2, I11, I18
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectAwayAndBack, type Harness } from './away.ts';
import {
  addUser,
  CONTEXT,
  lastAudit,
  newcomer,
  newSession,
  type PeoplePorts,
  setPassword,
  turnOf,
} from './people.ts';
import { HOSTILE, hashOf, hex, NOW_MS } from './samples.ts';

const PARALLEL = 20;

export function usersContract(harness: Harness<PeoplePorts>): void {
  const users = () => harness.port().users;
  const userPasswords = () => harness.port().userPasswords;
  const passwordLinks = () => harness.port().passwordLinks;
  const secondFactors = () => harness.port().secondFactors;
  const loginFailures = () => harness.port().loginFailures;
  const sessions = () => harness.port().sessions;
  const audited = (action: string, target: string) =>
    lastAudit(harness.port().audit, action, target);

  describe('people', () => {
    it('should be found by id and by address without regard to case', async () => {
      const input = newcomer({ displayName: HOSTILE });
      expect(await users().create(input)).toBe('created');
      const row = {
        userId: input.userId,
        email: input.email,
        displayName: HOSTILE.replace('\0', '\uFFFD'),
        role: 'viewer',
        status: 'active',
        tags: [],
        passwordHash: '$argon2id$first',
        passwordChangedAtMs: NOW_MS,
        mustChangePassword: false,
        createdAtMs: NOW_MS,
        lastLoginAtMs: null,
        mfa: { state: 'off', sealedSecret: null, lastStep: 0, changedAtMs: null },
        revision: 1,
      };
      expect(await users().get(input.userId)).toEqual(row);
      expect(await users().findByEmail(input.email.toUpperCase())).toEqual(row);
      expect(await users().findByEmail('nobody\0@example.test')).toBeNull();
      expect(await users().get('none\0')).toBeNull();
    });

    it('should never hold two accounts of one address, however many come at once', async () => {
      const email = `race-${hex(6)}@example.test`;
      const answers = await Promise.all(
        Array.from({ length: PARALLEL }, (_, index) =>
          users().create(newcomer({ email: index % 2 ? email : email.toUpperCase() })),
        ),
      );
      expect(answers.filter((one) => one === 'created').length).toBe(1);
      const refused = newcomer({ email });
      expect(await users().create(refused)).toBe('email_taken');
      expect(await users().get(refused.userId)).toBeNull();
      expect(await audited('user.create', refused.userId)).toMatchObject({ result: 'email_taken' });
    });

    it('should be listed by address, page after page', async () => {
      const prefix = `~list-${hex(4)}`;
      for (const name of ['b', 'A', 'c']) {
        await addUser(users(), { email: `${prefix}-${name}@example.test` });
      }
      const page = await users().list({ limit: 2, after: prefix });
      expect(page.map((one) => one.email)).toEqual([
        `${prefix}-A@example.test`,
        `${prefix}-b@example.test`,
      ]);
      const next = await users().list({ limit: 9, after: `${prefix}-b@example.test` });
      expect(next.map((one) => one.email)).toEqual([`${prefix}-c@example.test`]);
    });

    it('should be audited with what was before and after, and never with a hash', async () => {
      const row = await addUser(users());
      const made = await audited('user.create', row.userId);
      expect(made).toMatchObject({ actor: CONTEXT.actor, from: CONTEXT.from, result: 'ok' });
      const patch = { displayName: 'New', tags: ['x', HOSTILE] };
      const { userId } = row;
      const changed = await users().change({ ...CONTEXT, userId, revision: 1, patch });
      expect(changed).toMatchObject({ ...patch, revision: 2 });
      expect(await audited('user.change', userId)).toMatchObject({
        before: { display_name: 'A Person', tags: [] },
        after: { display_name: 'New', tags: patch.tags },
      });
      expect(JSON.stringify([made, changed === 'conflict'])).not.toContain('argon2');
    });

    it('should take one of two changes that know the same revision', async () => {
      const { userId } = await addUser(users());
      const change = (displayName: string) =>
        users().change({ ...CONTEXT, userId, revision: 1, patch: { displayName } });
      const answers = await Promise.all([change('a'), change('b')]);
      expect(answers.filter((one) => one === 'conflict').length).toBe(1);
      const none = { ...CONTEXT, userId: 'none', revision: 1, patch: {} };
      expect(await users().change(none)).toBe('not_found');
    });

    it('should end the sessions of whoever gets another role or is disabled, and no others', async () => {
      const { userId } = await addUser(users());
      const other = await addUser(users());
      await sessions().create(newSession(other.userId));
      const live = async () => (await sessions().listOf(userId, NOW_MS)).length;
      let revision = 1;
      for (const patch of [
        { displayName: 'x' },
        { role: 'analyst' as const },
        { status: 'disabled' as const },
      ]) {
        await users().change({ ...CONTEXT, userId, revision, patch: { status: 'active' } });
        expect(await sessions().create(newSession(userId))).toBe(true);
        const before = await live();
        await users().change({ ...CONTEXT, userId, revision: revision + 1, patch });
        expect(await live()).toBe('displayName' in patch ? before : 0);
        revision += 2;
      }
      expect(await sessions().create(newSession(userId))).toBe(false);
      expect((await sessions().listOf(other.userId, NOW_MS)).length).toBe(1);
    });
  });

  describe('passwords', () => {
    it('should end every session but the one kept, and every link', async () => {
      const { userId } = await addUser(users());
      const [kept, gone] = [newSession(userId), newSession(userId)];
      for (const one of [kept, gone]) await sessions().create(one);
      const hash = hashOf(hex(8));
      await passwordLinks().createLink({ ...CONTEXT, userId, hash, expiresAtMs: NOW_MS + 1 });
      const turn = turnOf(kept.hash);
      const [replaces, passwordHash] = ['$argon2id$first', 'second'];
      const input = { ...CONTEXT, userId, replaces, passwordHash, turn };
      const turned = await userPasswords().setPassword(input);
      expect(turned).toMatchObject({ userId, hash: turn.to, sessionId: turn.sessionId });
      expect(await users().get(userId)).toMatchObject({ passwordHash: 'second' });
      expect(await sessions().listOf(userId, NOW_MS)).toEqual([turned]);
      expect(await passwordLinks().findLink(hash, NOW_MS)).toBeNull();
      expect(await userPasswords().setPassword({ ...input, userId: 'none' })).toBeNull();
    });

    it('should be set in place of the one that was judged, by a session that lives, or not at all', async () => {
      const { userId } = await addUser(users());
      const other = await addUser(users());
      const set = async (hash: Buffer, replaces: string | null = '$argon2id$first') =>
        userPasswords().setPassword({
          ...{ ...CONTEXT, userId, replaces, passwordHash: 'stolen', turn: turnOf(hash) },
        });
      const [own, ended, foreign] = [
        newSession(userId),
        newSession(userId),
        newSession(other.userId),
      ];
      const over = newSession(userId, { createdAtMs: NOW_MS - 60_000 });
      for (const one of [own, ended, foreign, over]) await sessions().create(one);
      await sessions().end({ ...CONTEXT, hash: ended.hash });
      for (const one of [ended, foreign, over]) expect(await set(one.hash)).toBeNull();
      for (const wrong of ['other', null]) expect(await set(own.hash, wrong)).toBeNull();
      expect(await users().get(userId)).toMatchObject({ passwordHash: '$argon2id$first' });
      expect(await sessions().findByHash(own.hash)).toMatchObject({ endedAtMs: null });
    });

    it('should never be what a change says that a reset overtook', async () => {
      for (let round = 0; round < 20; round += 1) {
        const { userId } = await addUser(users());
        const [own, hash] = [newSession(userId), hashOf(hex(8))];
        await sessions().create(own);
        await passwordLinks().createLink({
          ...CONTEXT,
          userId,
          hash,
          expiresAtMs: NOW_MS + 60_000,
        });
        const change = {
          ...{ ...CONTEXT, userId, replaces: '$argon2id$first', passwordHash: 'changed' },
          turn: turnOf(own.hash),
        };
        const reset = () => passwordLinks().useLink({ ...CONTEXT, hash, passwordHash: 'reset' });
        const [changed, used] = await Promise.all([userPasswords().setPassword(change), reset()]);
        const inForce = (await users().get(userId))?.passwordHash;
        // A change that came first takes the link with it; one that came later changes nothing.
        expect([changed !== null, used !== null, inForce]).toEqual(
          used === null ? [true, false, 'changed'] : [false, true, 'reset'],
        );
        const live = used === null ? 1 : 0;
        expect((await sessions().listOf(userId, NOW_MS)).length).toBe(live);
      }
    });

    it('should be hashed anew only while it is the same', async () => {
      const { userId } = await addUser(users());
      await userPasswords().rehash({ userId, replaces: 'other', passwordHash: 'bad' });
      expect(await users().get(userId)).toMatchObject({ passwordHash: '$argon2id$first' });
      await userPasswords().rehash({ userId, replaces: '$argon2id$first', passwordHash: 'better' });
      expect(await users().get(userId)).toMatchObject({ passwordHash: 'better' });
    });

    it('should begin no session for a login that judged an older one', async () => {
      const { userId, role } = await addUser(users());
      const create = (passwordHash: string) =>
        sessions().create(newSession(userId), { passwordHash, role, hasFactor: false });
      expect(await create('$argon2id$first')).toBe(true);
      const change = { userId, replaces: '$argon2id$first', to: 'second' };
      const kept = await setPassword(harness.port(), change);
      expect(await create('$argon2id$first')).toBe(false);
      expect(await sessions().listOf(userId, NOW_MS)).toEqual([kept]);
    });

    it('should note a login with its method', async () => {
      const { userId, email } = await addUser(users());
      const session = randomUUID();
      await users().noteLogin({
        ...{ ...CONTEXT, userId, method: 'password', session, nowMs: NOW_MS + 5 },
      });
      expect(await users().get(userId)).toMatchObject({ lastLoginAtMs: NOW_MS + 5 });
      expect(await audited('user.login', userId)).toMatchObject({
        detail: { method: 'password', session, email },
      });
    });
  });

  describe('links', () => {
    const link = (userId: string, more: { readonly expiresAtMs?: number } = {}) => {
      const hash = hashOf(hex(16));
      const expiresAtMs = more.expiresAtMs ?? NOW_MS + 60_000;
      return {
        hash,
        make: () => passwordLinks().createLink({ ...CONTEXT, userId, hash, expiresAtMs }),
      };
    };
    const use = (hash: Buffer, passwordHash = 'new') =>
      passwordLinks().useLink({ ...CONTEXT, hash, passwordHash });

    it('should be used once, however many come at once, and end every session', async () => {
      const { userId } = await addUser(users());
      await sessions().create(newSession(userId));
      const { hash, make } = link(userId);
      expect(await make()).toBe(true);
      expect(await passwordLinks().findLink(hash, NOW_MS)).toMatchObject({ userId });
      const answers = await Promise.all(
        Array.from({ length: PARALLEL }, (_, index) => use(hash, `p${index}`)),
      );
      const won = answers.filter((one) => one !== null);
      expect(won.length).toBe(1);
      expect(await users().get(userId)).toMatchObject({ passwordHash: won[0]?.passwordHash });
      expect(await sessions().listOf(userId, NOW_MS)).toEqual([]);
      expect(await passwordLinks().findLink(hash, NOW_MS)).toBeNull();
    });

    it('should be made, and people removed, only while the role is the one that was judged', async () => {
      const { userId } = await addUser(users());
      const [before, late] = [link(userId), hashOf(hex(16))];
      await before.make();
      await users().change({ ...CONTEXT, userId, revision: 1, patch: { role: 'admin' } });
      expect(await passwordLinks().findLink(before.hash, NOW_MS)).toBeNull();
      const judged = { ...CONTEXT, userId, judgedRole: 'viewer' as const };
      const expiresAtMs = NOW_MS + 60_000;
      expect(await passwordLinks().createLink({ ...judged, hash: late, expiresAtMs })).toBe(false);
      expect(await users().remove(judged)).toBe('conflict');
      const disabling = { ...judged, revision: 2, patch: { status: 'disabled' as const } };
      expect(await users().change(disabling)).toBe('conflict');
      expect(await users().get(userId)).toMatchObject({ role: 'admin' });
    });

    it('should end at their instant, with a newer one, and with their owner', async () => {
      const { userId } = await addUser(users());
      const late = link(userId, { expiresAtMs: NOW_MS });
      await late.make();
      expect(await use(late.hash)).toBeNull();
      const [older, newer] = [link(userId), link(userId)];
      await older.make();
      await newer.make();
      expect(await use(older.hash)).toBeNull();
      const patch = { status: 'disabled' as const };
      await users().change({ ...CONTEXT, userId, revision: 1, patch });
      expect(await use(newer.hash)).toBeNull();
      expect(await passwordLinks().findLink(newer.hash, NOW_MS)).toBeNull();
      expect(await link('none').make()).toBe(false);
      expect(await use(hashOf('none'))).toBeNull();
    });
  });

  describe('people whose database is away', () => {
    it('should say so, and answer again by themselves', async () => {
      const { userId, email } = await addUser(users());
      await expectAwayAndBack(harness, [
        () => users().get(userId),
        () => users().findByEmail(email),
        () => users().list({ limit: 1, after: null }),
        () => users().create(newcomer({ email })),
        () => users().change({ ...CONTEXT, userId, revision: 7, patch: {} }),
        () => secondFactors().acceptTotpStep({ userId, step: 1 }),
        () => passwordLinks().useLink({ ...CONTEXT, hash: hashOf('x'), passwordHash: 'x' }),
        () => loginFailures().noteFailure({ keys: ['away'], nowMs: NOW_MS, windowMs: 1 }),
        () => sessions().findByHash(hashOf('x')),
        () => sessions().listOf(userId, NOW_MS),
        () => sessions().touch([{ hash: hashOf('x'), atMs: NOW_MS }]),
        () => sessions().endAllOf({ ...CONTEXT, userId, keep: null }),
      ]);
    });
  });
}
