// The promise that somebody can always administer: the last active admin stays, however many changes come at once.
// invariant: I18
import { describe, expect, it } from 'vitest';
import type { UserRow } from '../../storage/ports/access/users.ts';
import type { Harness } from './away.ts';
import { addUser, CONTEXT, newSession, type PeoplePorts } from './people.ts';
import { NOW_MS } from './samples.ts';

const ROUNDS = 5;
const SHARED_LIST_MAX = 5_000;

export function lastAdminContract(harness: Harness<PeoplePorts>): void {
  const users = () => harness.port().users;
  const admins = async () =>
    (await users().list({ limit: SHARED_LIST_MAX, after: null })).filter(
      (one) => one.role === 'admin' && one.status === 'active',
    );
  const lower = (user: UserRow) =>
    users().change({ ...CONTEXT, ...user, patch: { role: 'viewer' } });
  const disable = (user: UserRow) =>
    users().change({ ...CONTEXT, ...user, patch: { status: 'disabled' } });
  const remove = ({ userId }: UserRow) => users().remove({ ...CONTEXT, userId });

  describe('the last admin', () => {
    it('should be neither lowered, disabled nor removed', async () => {
      const last = await addUser(users(), { role: 'admin' });
      for (const one of await admins()) if (one.userId !== last.userId) await lower(one);
      expect(await lower(last)).toBe('last_admin');
      expect(await disable(last)).toBe('last_admin');
      expect(await remove(last)).toBe('last_admin');
      const patch = { displayName: 'still here' };
      expect(await users().change({ ...CONTEXT, ...last, patch })).toMatchObject(patch);
    });

    it('should stay when all admins are taken at once', async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const added = [await addUser(users(), { role: 'admin' })];
        for (const act of [lower, disable, remove]) {
          added.push(await addUser(users(), { role: 'admin' }));
          await Promise.all((await admins()).map((one) => act(one)));
          expect((await admins()).length).toBe(1);
        }
      }
    });

    it('should go when another came, with everything that is theirs', async () => {
      const [first, second] = [
        await addUser(users(), { role: 'admin' }),
        await addUser(users(), { role: 'admin' }),
      ];
      const session = newSession(first.userId);
      await harness.port().sessions.create(session);
      expect(await remove(first)).toBe('ok');
      expect(await remove(first)).toBe('not_found');
      expect(await users().get(first.userId)).toBeNull();
      expect(await harness.port().sessions.findByHash(session.hash)).toBeNull();
      expect(await users().get(second.userId)).toMatchObject({ createdAtMs: NOW_MS });
    });
  });
}
