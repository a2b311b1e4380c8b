// Attack 28, keys that were cut to a few scopes against accounts of a higher role: every route that touches another
// account, or gives somebody power, with keys that lack one scope of the account's role. The routes are read from the
// program's own table. decision: D62; invariant: I18
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../actors/trust/uuid-v7.ts';
import { createFixture } from '../../gateway/operator-plane/plumbing/operator-plane.fixture.ts';
import {
  ROLE_SCOPES,
  ROLES,
  type Role,
  SCOPES,
  type Scope,
} from '../../machines/trust/roles.rules.ts';
import { MINUTE_MS } from '../../machines/units.ts';
import { type ConsoleUnderTest, removeSharedKeys, startConsole } from './console.fixture.ts';
import { addPerson } from './person.ts';

let console: ConsoleUnderTest;
beforeEach(async () => {
  console = await startConsole();
});
afterEach(() => console.stop());
afterAll(removeSharedKeys);

type Touch = {
  readonly route: string;
  readonly scope: Scope;
  /** Makes the victim ready, and says what to send. */
  prepare(victim: { readonly userId: string; readonly role: Role }): Promise<{
    readonly path: string;
    readonly body?: unknown;
  }>;
};

const relational = () => console.stores.relational;
const doing = () => ({ actor: 'test', nowMs: console.time.now() });

async function enrolled(userId: string): Promise<void> {
  const sealedSecret = 'sealed';
  await relational().secondFactors.beginTotp({ ...doing(), userId, sealedSecret });
  await relational().secondFactors.confirmTotp({
    ...{ ...doing(), userId, sealedSecret, step: 1, recoveryHashes: [], keepSession: null },
  });
}

async function newTeam(userIds: readonly string[]): Promise<string> {
  const id = newId();
  await relational().teams.teams.create({ ...doing(), id, name: id, description: '' });
  await relational().teams.teams.changeMembers({ ...doing(), id, addUsers: userIds });
  return id;
}

const TOUCHES: readonly Touch[] = [
  {
    ...{ route: 'POST /users', scope: 'users:write' },
    prepare: async ({ role }) => ({
      path: '/users',
      body: { email: `${randomUUID()}@example.test`, role },
    }),
  },
  {
    ...{ route: 'PATCH /users/:id', scope: 'users:write' },
    prepare: async ({ userId }) => ({
      path: `/users/${userId}`,
      body: { revision: 1, status: 'disabled' },
    }),
  },
  {
    ...{ route: 'DELETE /users/:id', scope: 'users:write' },
    prepare: async ({ userId }) => ({ path: `/users/${userId}` }),
  },
  {
    ...{ route: 'POST /users/:id/reset-link', scope: 'users:write' },
    prepare: async ({ userId }) => ({ path: `/users/${userId}/reset-link` }),
  },
  {
    ...{ route: 'DELETE /users/:id/sessions', scope: 'users:write' },
    prepare: async ({ userId }) => ({ path: `/users/${userId}/sessions` }),
  },
  {
    ...{ route: 'DELETE /users/:id/mfa', scope: 'users:write' },
    async prepare({ userId }) {
      await enrolled(userId);
      return { path: `/users/${userId}/mfa` };
    },
  },
  {
    ...{ route: 'PUT /users/:id/sensors', scope: 'users:write' },
    prepare: async ({ userId }) => ({ path: `/users/${userId}/sensors`, body: { sensor_ids: [] } }),
  },
  {
    ...{ route: 'DELETE /all-api-keys/:id', scope: 'users:write' },
    async prepare({ userId }) {
      const keyId = newId();
      const hash = Buffer.from(randomUUID());
      const key = { keyId, hash, name: 'k', scopes: ['admin'], expiresAtMs: null, userId };
      await relational().apiKeys.create({ ...key, nowMs: 0 });
      return { path: `/all-api-keys/${keyId}` };
    },
  },
  {
    ...{ route: 'POST /teams/:id/members', scope: 'teams:write' },
    async prepare({ userId }) {
      return { path: `/teams/${await newTeam([])}/members`, body: { add_users: [userId] } };
    },
  },
  {
    ...{ route: 'POST /teams/:id/members', scope: 'teams:write' },
    async prepare({ userId }) {
      return {
        path: `/teams/${await newTeam([userId])}/members`,
        body: { remove_users: [userId] },
      };
    },
  },
];

async function tried(touch: Touch, role: Role, scopes: readonly string[]) {
  const { userId } = await addPerson(console, role);
  const { path, body } = await touch.prepare({ userId, role });
  const { secret } = await console.newKey(scopes);
  const [method = ''] = touch.route.split(' ');
  const headers = { authorization: `Bearer ${secret}` };
  const answer = await console.ask(null, `/api/v2${path}`, body, { method, headers });
  return answer.status < 300 ? 'done' : answer.body['code'];
}

describe('attack 28: cut keys x accounts of a higher role', () => {
  it('should know every route that touches an account by its id', async () => {
    const fixture = await createFixture();
    const touching = fixture.app.routeTable.routes
      .filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method))
      .map(({ method, url }) => `${method} ${url.replace('/api/v2', '')}`)
      .filter((route) => /\/users|\/all-api-keys|\/teams\/:id\/members/.test(route));
    await fixture.close();
    expect([...new Set(TOUCHES.map(({ route }) => route))].sort()).toEqual(touching.sort());
  });

  it.each(ROLES)(
    'should reach an account of %s with all of its scopes and no less',
    async (role) => {
      const mistakes: unknown[] = [];
      for (const touch of TOUCHES) {
        const all = [...new Set([...ROLE_SCOPES[role], touch.scope])];
        const lacking = all.filter((scope) => scope !== touch.scope);
        const cut = [
          [touch.scope],
          ...[lacking.at(0), lacking.at(-1)].map((gone) => all.filter((one) => one !== gone)),
        ];
        for (const scopes of cut) {
          const holdsAll = ROLE_SCOPES[role].every((one) => scopes.includes(one));
          const wanted = holdsAll ? 'done' : 'role_required';
          const found = await tried(touch, role, scopes);
          if (found !== wanted) mistakes.push([touch.route, role, scopes.length, found]);
        }
        const found = await tried(touch, role, all);
        if (found !== 'done') mistakes.push([touch.route, role, 'all', found]);
      }
      expect(mistakes).toEqual([]);
    },
  );

  it('should revoke no key of the Console itself with less than an admin holds', async () => {
    const { keyId } = await console.newKey(['admin']);
    const revoke = async (scopes: readonly string[]) => {
      const { secret } = await console.newKey(scopes);
      const headers = { authorization: `Bearer ${secret}` };
      const path = `/api/v2/all-api-keys/${keyId}`;
      return (await console.ask(null, path, undefined, { method: 'DELETE', headers })).status;
    };
    expect(await revoke(['users:write'])).toBe(403);
    expect(await revoke(SCOPES)).toBe(200);
  });

  it('should leave no link behind when an account is raised', async () => {
    const { userId } = await addPerson(console, 'viewer');
    const small = await console.newKey([...ROLE_SCOPES.viewer, 'users:write']);
    const ask = (secret: string, method: string, path: string, body?: unknown) =>
      console.ask(null, `/api/v2${path}`, body, {
        method,
        headers: { authorization: `Bearer ${secret}` },
      });
    const link = await ask(small.secret, 'POST', `/users/${userId}/reset-link`);
    expect(link.status).toBe(201);
    const full = await console.newKey(['admin']);
    const raise = { revision: 1, role: 'admin' };
    expect((await ask(full.secret, 'PATCH', `/users/${userId}`, raise)).status).toBe(200);
    const secret = String(link.body['secret']);
    const used = await console.ask(
      null,
      '/api/v2/auth/reset',
      {
        ...{ secret, password: 'a password of the attacker' },
      },
      { method: 'POST' },
    );
    expect(used.body['code']).toBe('reset_link_ended');
  });
});

describe('attack 28: a cut key and an account that is raised while it is asked about', () => {
  it('should change nothing by naming the revision that the account is about to have', async () => {
    await addPerson(console, 'admin');
    const { userId } = await addPerson(console, 'viewer');
    const { users } = relational();
    const get = users.get.bind(users);
    const looked = vi.spyOn(users, 'get').mockImplementation(async (id) => {
      const before = await get(id);
      // Between the look and the change an admin raises it: what was a guess is its revision now.
      if (id === userId && before?.revision === 1) {
        await users.change({ ...doing(), userId, revision: 1, patch: { role: 'admin' } });
      }
      return before;
    });
    const { secret } = await console.newKey([...ROLE_SCOPES.viewer, 'users:write']);
    const headers = { authorization: `Bearer ${secret}` };
    const patch = { revision: 2, status: 'disabled' };
    const path = `/api/v2/users/${userId}`;
    const answer = await console.ask(null, path, patch, { method: 'PATCH', headers });
    looked.mockRestore();
    expect(answer.body['code']).toBe('user_conflict');
    expect(await users.get(userId)).toMatchObject({ role: 'admin', status: 'active' });
  });
});

describe('attack 28: what a key for providers and settings may give', () => {
  const ISSUER = 'https://sso.example.org';
  const provider = (options: Record<string, unknown>) => ({
    ...{
      kind: 'oidc',
      name: 'Example',
      issuer: ISSUER,
      client_id: 'c',
      client_secret: 's',
      options,
    },
  });
  async function askerOf(scopes: readonly string[]) {
    const { secret } = await console.newKey(scopes);
    const headers = { authorization: `Bearer ${secret}` };
    return (method: string, path: string, body?: unknown) =>
      console.ask(null, `/api/v2${path}`, body, { method, headers });
  }

  it('should make no provider without all that an admin holds, whatever role it gives', async () => {
    for (const role of ROLES) {
      for (const options of [
        { default_role: role },
        { groups_claim: 'groups', group_roles: { all: role } },
      ]) {
        for (const scopes of [
          ['sso:write'],
          [...ROLE_SCOPES.operator, 'sso:write'],
          SCOPES.filter((scope) => scope !== 'audit:read'),
        ]) {
          const small = await askerOf(scopes);
          const refused = await small('POST', '/sso-providers', provider(options));
          const found = [role, scopes.length, refused.body['code']];
          expect(found).toEqual([role, scopes.length, 'role_required']);
        }
        const root = await askerOf(['admin']);
        expect((await root('POST', '/sso-providers', provider(options))).status).toBe(201);
      }
    }
  });

  it('should hand accounts over, and change or remove what is there, for a whole admin only', async () => {
    const most = await askerOf(SCOPES.filter((scope) => scope !== 'audit:read'));
    const links = provider({ link_domains: ['example.org'] });
    expect((await most('POST', '/sso-providers', links)).body['code']).toBe('role_required');
    const root = await askerOf(['admin']);
    const made = await root('POST', '/sso-providers', provider({ default_role: 'viewer' }));
    const path = `/sso-providers/${String(made.body['provider_id'])}`;
    for (const patch of [
      { options: { default_role: 'admin' } },
      { options: { link_domains: ['example.org'] } },
      { options: { ca_pem: null } },
      { client_id: 'other' },
      { is_enabled: false },
    ]) {
      const answer = await most('PATCH', path, { revision: 1, ...patch });
      expect([patch, answer.body['code']]).toEqual([patch, 'role_required']);
    }
    expect((await most('DELETE', path)).body['code']).toBe('role_required');
    const off = { revision: 1, is_enabled: false, options: { link_domains: ['example.org'] } };
    expect((await root('PATCH', path, off)).status).toBe(200);
    expect((await root('DELETE', path)).status).toBe(204);
  });

  it('should weaken neither sessions nor factors of whom it does not reach', async () => {
    const root = await askerOf(['admin']);
    const values = { mfa_required_roles: ['viewer', 'admin'], session_idle_minutes: 30 };
    const set = { values, revisions: { mfa_required_roles: 0, session_idle_minutes: 0 } };
    expect((await root('PATCH', '/settings', set)).status).toBe(200);
    const ofViewer = await askerOf([...ROLE_SCOPES.viewer, 'settings:write']);
    const change = async (name: string, value: unknown, revision = 1) => {
      const answer = await ofViewer('PATCH', '/settings', {
        ...{ values: { [name]: value }, revisions: { [name]: revision } },
      });
      return answer.status === 200 ? 'done' : answer.body['code'];
    };
    // The default of an evaluation asks nobody.
    expect(await change('mfa_required_roles', null)).toBe('role_required');
    expect(await change('mfa_required_roles', [])).toBe('role_required');
    expect(await change('mfa_required_roles', ['viewer'])).toBe('role_required');
    expect(await change('session_idle_minutes', 31)).toBe('role_required');
    expect(await change('session_idle_minutes', null)).toBe('role_required');
    expect(await change('session_lifetime_hours', 700, 0)).toBe('role_required');
    expect(await change('analytics_retention_days', 30, 0)).toBe('done');
    expect(await change('session_idle_minutes', 29)).toBe('done');
    expect(await change('mfa_required_roles', ['admin', 'operator'])).toBe('done');
  });

  it('should not lengthen sessions that the configuration made shorter than the default', async () => {
    const strict = await startConsole({ intervals: { SESSION_IDLE_MS: 10 * MINUTE_MS } });
    try {
      const { secret } = await strict.newKey(['settings:write']);
      const headers = { authorization: `Bearer ${secret}` };
      const change = async (name: string, value: unknown, revision: number) => {
        const body = { values: { [name]: value }, revisions: { [name]: revision } };
        const at = { method: 'PATCH', headers };
        const answer = await strict.ask(null, '/api/v2/settings', body, at);
        return answer.status === 200 ? 'done' : answer.body['code'];
      };
      expect(await change('session_idle_minutes', 60, 0)).toBe('role_required');
      expect(await change('session_idle_minutes', 5, 0)).toBe('done');
      expect(await change('session_idle_minutes', null, 1)).toBe('role_required');
      expect(strict.intervals.SESSION_IDLE_MS).toBe(5 * MINUTE_MS);
    } finally {
      await strict.stop();
    }
  });

  it('should not lengthen sessions by breaking a rule of other settings at one instant', async () => {
    const by = { role: 'admin', scopes: ['settings:write'] } as const;
    const set = (values: Record<string, unknown>, revision = 0) => {
      const revisions = Object.fromEntries(Object.keys(values).map((name) => [name, revision]));
      return console.settings.change({ actor: 'api-key:small', values, revisions, by });
    };
    const region = { federation_region: 'north', federation_region_label: 'North' };
    expect(await set({ session_idle_minutes: 5, session_lifetime_hours: 1, ...region })).toEqual({
      ok: true,
    });
    // Each fits what it finds; together they do not.
    const both = [set({ federation_role: 'regional' }), set({ federation_region: '' }, 1)];
    expect(await Promise.all(both)).toMatchObject([{ ok: true }, { code: 'settings_conflict' }]);
    expect(console.settings.get()).toMatchObject({ federationRegion: 'north' });
    // Nor do rows that another version wrote.
    const rows = { values: { federation_region: '' }, revisions: { federation_region: 1 } };
    await relational().settings.put({ ...doing(), ...rows });
    expect(await set({ session_idle_minutes: 60 }, 1)).toMatchObject({ code: 'role_required' });
    expect(console.settings.get()).toMatchObject({
      sessionIdleMinutes: 5,
      sessionLifetimeHours: 1,
    });
    expect(console.intervals.SESSION_IDLE_MS).toBe(5 * MINUTE_MS);
  });
});
