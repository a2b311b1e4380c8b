// The promises of the store of identity providers: a login that is under way is taken once, a subject belongs to one
// user, and no secret reaches the audit log. invariant: I11, I18; decision: D40
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SsoFlowRow, SsoProviderRow, SsoStore } from '../../storage/ports/access/sso-store.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import { expectAwayAndBack, type Harness } from './away.ts';
import { HOSTILE, hashOf, hex, NOW_MS } from './samples.ts';

/** So few fit into the store under test. */
export const CONTRACT_FLOWS_MAX = 12;
const CALLERS = 50;

type Ports = {
  readonly sso: SsoStore;
  readonly audit: AuditLog;
  /** Makes a user that exists for the store, and tells its id. */
  newUser(): Promise<string>;
};
type NewProvider = Parameters<SsoStore['createProvider']>[0]['provider'];

export function ssoStoreContract(harness: Harness<Ports>): void {
  const { port } = harness;
  const doing = { actor: 'user:op@example.org', from: '203.0.113.7', nowMs: NOW_MS };
  const create = (more: Partial<NewProvider> = {}): Promise<SsoProviderRow> =>
    port().sso.createProvider({ ...doing, provider: { ...newProvider(), ...more } });
  const flow = (providerId: string, more: Partial<SsoFlowRow> = {}): SsoFlowRow => ({
    stateHash: hashOf(hex(8)),
    providerId,
    browserHash: hashOf(hex(8)),
    nonce: hex(16),
    codeVerifier: hex(32),
    returnTo: `/x?${HOSTILE.replaceAll('\0', '')}`,
    expiresAtMs: NOW_MS + 60_000,
    ...more,
  });

  describe('identity provider store', () => {
    it('should give a provider back as it was put', async () => {
      const made = await create();
      expect(made).toMatchObject({ revision: 1, createdAtMs: NOW_MS, changedAtMs: NOW_MS });
      expect(await port().sso.getProvider(made.providerId)).toEqual(made);
      expect(await port().sso.listProviders()).toContainEqual(made);
      expect(await port().sso.getProvider(randomUUID())).toBeNull();
    });

    it('should change what is given, and refuse who saw an older one', async () => {
      const made = await create();
      const input = { ...doing, providerId: made.providerId, nowMs: NOW_MS + 5 };
      const patch = { name: 'other\0', enabled: false };
      const changed = await port().sso.changeProvider({ ...input, revision: 1, patch });
      expect(changed).toEqual({
        ...made,
        name: 'other\uFFFD',
        enabled: false,
        changedAtMs: NOW_MS + 5,
        revision: 2,
      });
      expect(await port().sso.changeProvider({ ...input, revision: 1, patch })).toBe('conflict');
      const unknown = { ...input, providerId: randomUUID(), revision: 1, patch };
      expect(await port().sso.changeProvider(unknown)).toBe('not_found');
      expect(await port().sso.getProvider(made.providerId)).toEqual(changed);
    });

    it('should let one of two changes through that saw the same provider', async () => {
      const { providerId } = await create();
      const answers = await Promise.all(
        ['a', 'b'].map((name) =>
          port().sso.changeProvider({ ...doing, providerId, revision: 1, patch: { name } }),
        ),
      );
      expect(answers.filter((answer) => answer === 'conflict').length).toBe(1);
    });

    it('should write every change into the audit log, and never the secret', async () => {
      const made = await create();
      const { providerId } = made;
      const patch = { clientSecretSealed: `sealed-${hex(8)}` };
      await port().sso.changeProvider({ ...doing, providerId, revision: 1, patch });
      await port().sso.removeProvider({ ...doing, providerId });
      const told = (await port().audit.recent(1_000)).filter((row) => row.target === providerId);
      expect(told.map((row) => row.action).sort()).toEqual([
        'sso_provider.change',
        'sso_provider.create',
        'sso_provider.remove',
      ]);
      expect(told.find((row) => row.action === 'sso_provider.change')?.detail).toEqual({
        is_secret_new: true,
      });
      for (const row of told) expect(row).toMatchObject({ actor: doing.actor, from: doing.from });
      expect(JSON.stringify(told)).not.toContain('sealed-');
    });

    it('should tie a subject to one user, and forget it with its provider', async () => {
      const { providerId } = await create();
      const subject = `subject ${hex(8)}`;
      const users = await Promise.all(Array.from({ length: 8 }, () => port().newUser()));
      const input = { ...doing, providerId, subject };
      const linked = await Promise.all(
        users.map((userId) => port().sso.link({ ...input, userId })),
      );
      expect(linked.filter((isLinked) => isLinked).length).toBe(1);
      const owner = users[linked.indexOf(true)] ?? '';
      expect(await port().sso.findIdentity(providerId, subject)).toBe(owner);
      expect(await port().sso.findIdentity(providerId, `${subject} `)).toBeNull();
      expect(await port().sso.identitiesOf(owner)).toEqual([{ providerId, subject }]);
      const told = (await port().audit.recent(1_000)).filter((row) => row.target === owner);
      expect(told.map((row) => row.action)).toContain('user.link_identity');
      expect(await port().sso.removeProvider({ ...doing, providerId })).toBe(true);
      expect(await port().sso.removeProvider({ ...doing, providerId })).toBe(false);
      expect(await port().sso.findIdentity(providerId, subject)).toBeNull();
      expect(await port().sso.link({ ...input, userId: owner })).toBe(false);
    });

    it('should give a flow to one of many callers, and only before its end', async () => {
      const { providerId } = await create();
      const row = flow(providerId);
      await port().sso.saveFlow(row);
      const takes = Array.from({ length: CALLERS }, () =>
        port().sso.takeFlow(row.stateHash, NOW_MS),
      );
      expect((await Promise.all(takes)).filter((one) => one !== null)).toEqual([row]);
      const late = flow(providerId);
      await port().sso.saveFlow(late);
      expect(await port().sso.takeFlow(late.stateHash, late.expiresAtMs)).toBeNull();
      expect(await port().sso.takeFlow(late.stateHash, NOW_MS)).toBeNull();
      expect(await port().sso.takeFlow(hashOf(hex(8)), NOW_MS)).toBeNull();
    });

    it('should keep a bounded number of flows; those that end first make room', async () => {
      const { providerId } = await create();
      const rows = Array.from({ length: CONTRACT_FLOWS_MAX + 3 }, (_, index) =>
        flow(providerId, { expiresAtMs: NOW_MS + 100_000 + index }),
      );
      for (const row of rows) await port().sso.saveFlow(row);
      const kept: boolean[] = [];
      for (const row of rows) {
        kept.push((await port().sso.takeFlow(row.stateHash, NOW_MS)) !== null);
      }
      expect(kept.slice(0, 3)).toEqual([false, false, false]);
      expect(kept.slice(3).every((isKept) => isKept)).toBe(true);
    });

    it('should keep no flow of a provider that is gone', async () => {
      const { providerId } = await create();
      const row = flow(providerId);
      await port().sso.saveFlow(row);
      await port().sso.removeProvider({ ...doing, providerId });
      expect(await port().sso.takeFlow(row.stateHash, NOW_MS)).toBeNull();
      await port().sso.saveFlow(row);
      expect(await port().sso.takeFlow(row.stateHash, NOW_MS)).toBeNull();
    });

    it('should say when the database is away, and answer again by itself', async () => {
      await expectAwayAndBack(harness, [
        () => port().sso.listProviders(),
        () => port().sso.findIdentity('none', 'none'),
        () => port().sso.takeFlow(hashOf('none'), NOW_MS),
        () => port().sso.removeProvider({ ...doing, providerId: 'none' }),
      ]);
    });
  });
}

function newProvider(): NewProvider {
  return {
    providerId: randomUUID(),
    kind: 'keycloak',
    name: 'Example',
    issuer: 'https://id.example.org/realms/main',
    clientId: 'console',
    clientSecretSealed: `sealed-${hex(8)}`,
    options: {
      groupsClaim: 'groups',
      groupRoles: { [HOSTILE]: 'admin' },
      defaultRole: null,
      createsUsers: true,
      domains: ['example.org'],
      linkDomains: [],
      scopes: ['openid', 'email'],
      caPem: null,
    },
    enabled: true,
  };
}
