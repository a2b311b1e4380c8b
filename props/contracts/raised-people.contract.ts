// What a role that gives more ends: all that a person got in with, in the transaction of the change. decision: D169;
// invariant: I18
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Role } from '../../machines/trust/roles.rules.ts';
import type { ApiKeys } from '../../storage/ports/access/api-keys.ts';
import type { Harness } from './away.ts';
import { addUser, CONTEXT, lastAudit, newSession, type PeoplePorts } from './people.ts';
import { hashOf, hex, NOW_MS } from './samples.ts';

type Ports = PeoplePorts & { readonly apiKeys: ApiKeys };

export function raisedPeopleContract({ port }: Pick<Harness<Ports>, 'port'>): void {
  /** Somebody with every way in. */
  async function person(role: Role): Promise<string> {
    const { users, secondFactors, securityKeys, sessions, apiKeys } = port();
    const { userId } = await addUser(users, { role });
    const totp = { ...CONTEXT, userId, sealedSecret: 'sealed' };
    await secondFactors.beginTotp(totp);
    const recoveryHashes = [hashOf(hex(8))];
    await secondFactors.confirmTotp({ ...totp, step: 7, recoveryHashes, keepSession: null });
    const own = newSession(userId);
    await sessions.create(own);
    const securityKey = {
      ...{ keyId: randomUUID(), credentialId: hex(16), publicKey: hashOf(hex(8)) },
      ...{ counter: 1, name: 'blue', transports: ['usb'] },
    };
    const by = { ...CONTEXT, userId, bySession: own.hash };
    expect(await securityKeys.add({ ...by, key: securityKey })).toBe('added');
    const key = { keyId: randomUUID(), hash: hashOf(hex(16)), name: 'k', scopes: ['sensors:read'] };
    expect(await apiKeys.create({ ...by, ...key, expiresAtMs: null })).toBe('created');
    return userId;
  }

  async function look(userId: string) {
    const { users, recoveryCodes, securityKeys, sessions, apiKeys } = port();
    const keys = await apiKeys.list({ userId, limit: 9, before: null });
    return {
      user: await users.get(userId),
      codes: await recoveryCodes.recoveryCodesLeft(userId),
      securityKeys: (await securityKeys.listOf(userId)).length,
      revoked: keys.map(({ revokedAtMs }) => revokedAtMs),
      sessions: (await sessions.listOf(userId, NOW_MS)).length,
    };
  }

  async function change(userId: string, role: Role) {
    const revision = (await port().users.get(userId))?.revision ?? 0;
    return port().users.change({ ...CONTEXT, userId, revision, patch: { role } });
  }

  describe('people whose role changes', () => {
    it('should lose all they got in with when they are given more, and nobody else', async () => {
      const [userId, otherId] = [await person('viewer'), await person('viewer')];
      const other = await look(otherId);
      const after = await change(userId, 'operator');
      expect(after).toMatchObject({
        ...{ role: 'operator', passwordHash: null, passwordChangedAtMs: null },
        ...{ mustChangePassword: false, revision: 2 },
        mfa: { state: 'off', sealedSecret: null, lastStep: 0, changedAtMs: null },
      });
      const left = { codes: 0, securityKeys: 0, revoked: [NOW_MS], sessions: 0 };
      expect(await look(userId)).toEqual({ user: after, ...left });
      expect(await look(otherId)).toEqual(other);
      expect(await lastAudit(port().audit, 'user.change', userId)).toMatchObject({
        ...{ before: { role: 'viewer' }, after: { role: 'operator' } },
        detail: { credentials_ended: true, sessions_ended: 1, api_keys_revoked: 1 },
      });
    });

    it('should keep it, but for their sessions, when they are given less', async () => {
      const userId = await person('operator');
      const before = await look(userId);
      const after = await change(userId, 'analyst');
      expect(after).toMatchObject({ passwordHash: '$argon2id$first', mfa: before.user?.mfa });
      expect(await look(userId)).toEqual({ ...before, user: after, sessions: 0 });
      const told = await lastAudit(port().audit, 'user.change', userId);
      expect(told?.detail).toEqual({ email: before.user?.email, sessions_ended: 1 });
    });
  });
}
