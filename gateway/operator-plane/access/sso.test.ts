// Identity providers as admins manage them: by the API and by the command line, and never with a secret in an answer.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { saveContext } from '../../cli/plumbing/context-file.ts';
import { runProgram } from '../../cli/plumbing/program.ts';
import { wordsOf } from '../../cli/plumbing/words.fixture.ts';
import { type Listening, listenWithFixture } from '../plumbing/listening.fixture.ts';

const SECRET = 'a-client-secret-of-the-provider';
const NEW = {
  kind: 'keycloak',
  name: 'Example',
  issuer: 'https://id.example.org/realms/main',
  client_id: 'console',
  client_secret: SECRET,
  options: { group_roles: { '/ops': 'operator' } },
};
let live: Listening;
let home: string;
let key: string;

beforeAll(async () => {
  live = await listenWithFixture();
  home = mkdtempSync(join(tmpdir(), 'sso-'));
  key = live.fixture.addKey(['admin']);
  saveContext({ XDG_CONFIG_HOME: home }, 'local', {
    ...{ url: live.url, token: key, ca_pem: live.caPem },
  });
});
afterAll(async () => {
  await live.close();
  rmSync(home, { recursive: true, force: true });
});

async function call(method: string, path: string, payload?: unknown) {
  const answer = await live.fixture.app.inject({
    method: method as 'GET',
    url: `/api/v2/sso-providers${path}`,
    headers: { authorization: `Bearer ${key}` },
    ...(payload === undefined ? {} : { payload: payload as object }),
  });
  expect(answer.payload).not.toContain(SECRET);
  return { status: answer.statusCode, body: answer.payload === '' ? null : answer.json() };
}

async function run(line: string) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runProgram(wordsOf(line), {
    env: { XDG_CONFIG_HOME: home },
    terminal: {
      out: (text) => void out.push(text),
      talk: (text) => void err.push(text),
      isInteractive: false,
      colors: pc.createColors(false),
    },
    now: () => 0,
    signal: new AbortController().signal,
    ask: async () => '',
  });
  expect([...out, ...err].join()).not.toContain(SECRET);
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('an identity provider', () => {
  it('should be made with what its kind fills in, changed by who saw it last, and removed', async () => {
    const made = await call('POST', '', NEW);
    expect(made).toMatchObject({
      status: 201,
      body: {
        is_enabled: true,
        redirect_uri: expect.stringContaining(`${live.url}/api/v2/auth/sso/callback/`),
        options: {
          groups_claim: 'groups',
          scopes: ['openid', 'email', 'profile'],
          link_domains: [],
          default_role: null,
        },
        revision: 1,
      },
    });
    expect(made.body.redirect_uri.endsWith(`/${made.body.provider_id}`)).toBe(true);
    const path = `/${made.body.provider_id}`;
    expect(await call('GET', path)).toEqual({ status: 200, body: made.body });
    const change = { revision: 1, name: 'Other', options: { domains: ['example.org'] } };
    const changed = await call('PATCH', path, change);
    expect(changed.body).toMatchObject({ name: 'Other', revision: 2 });
    expect(changed.body.options).toEqual({ ...made.body.options, domains: ['example.org'] });
    expect(await call('PATCH', path, change)).toMatchObject({
      ...{ status: 409, body: { code: 'sso_provider_conflict' } },
    });
    const secret = await call('PATCH', path, { revision: 2, client_secret: 'another' });
    expect(secret.status).toBe(200);
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('GET', path)).status).toBe(404);
  });

  it('should be refused with every mistake named', async () => {
    const options = {
      scopes: ['email'],
      domains: ['Example.org'],
      ca_pem: 'no certificate',
      groups_claim: null,
    };
    const issuer = 'http://user@id.example.org/realms/main?x=1';
    const refused = await call('POST', '', {
      ...NEW,
      issuer,
      options: { ...NEW.options, ...options },
    });
    expect(refused).toMatchObject({ status: 422, body: { code: 'sso_provider_refused' } });
    const pointers = refused.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).toEqual(['/issuer', '/scopes', '/domains', '/group_roles', '/ca_pem']);
    for (const wrong of [
      'https://id.example.org/',
      'https://127.0.0.1/realms/x',
      'https://10.0.0.5/realms/x',
      'https://169.254.169.254/realms/x',
    ]) {
      expect((await call('POST', '', { ...NEW, issuer: wrong })).status).toBe(422);
    }
    expect((await call('POST', '', { ...NEW, more: 1 })).status).toBe(422);
    const stays = await call('POST', '', NEW);
    const path = `/${stays.body.provider_id}`;
    const elsewhere = { revision: 1, issuer: 'https://other.example.org/realms/main' };
    expect((await call('PATCH', path, elsewhere)).status).toBe(422);
    await call('DELETE', path);
  });

  it('should be on this machine only where the allow-list says so, by its address', async () => {
    const issuer = 'https://127.0.0.1/realms/x';
    const allow = async (list: readonly string[] | null, revision: number) => {
      const answer = await live.fixture.app.inject({
        ...{
          method: 'PATCH',
          url: '/api/v2/settings',
          headers: { authorization: `Bearer ${key}` },
        },
        payload: {
          values: { webhook_allow_list: list },
          revisions: { webhook_allow_list: revision },
        },
      });
      expect(answer.statusCode).toBe(200);
    };
    expect((await call('POST', '', { ...NEW, issuer })).status).toBe(422);
    await allow(['127.0.0.0/8'], 0);
    const made = await call('POST', '', { ...NEW, issuer });
    expect(made.status).toBe(201);
    await allow(null, 1);
    const path = `/${made.body.provider_id}`;
    expect((await call('POST', `${path}/test`)).body.is_working).toBe(false);
    expect((await call('DELETE', path)).status).toBe(204);
  });

  it('should be seen and changed with the scope for it only', async () => {
    const reading = live.fixture.addKey(['sso:read']);
    const ask = async (method: string, secret: string) => {
      const headers = { authorization: `Bearer ${secret}` };
      const url = '/api/v2/sso-providers';
      const payload = method === 'POST' ? { payload: NEW } : {};
      const asked = { method: method as 'GET', url, headers, ...payload };
      return (await live.fixture.app.inject(asked)).statusCode;
    };
    expect(await ask('GET', reading)).toBe(200);
    expect(await ask('POST', reading)).toBe(403);
    expect(await ask('GET', live.fixture.addKey(['sensors:read']))).toBe(403);
  });

  it('should be managed by the command line, its secret read from a file', async () => {
    const file = join(home, 'secret');
    writeFileSync(file, `${SECRET}\n`);
    const made = await run(
      `sso-providers create --kind keycloak --name Example --issuer ${NEW.issuer} --client-id console --client-secret-file '${file}' --group-role /ops=operator cn=x,dc=y=viewer --required-amr mfa -o json`,
    );
    expect(made.err).toContain('/api/v2/auth/sso/callback');
    const { provider_id: id, options } = JSON.parse(made.out);
    expect(options.required_amr).toEqual(['mfa']);
    expect(options.group_roles).toEqual({ '/ops': 'operator', 'cn=x,dc=y': 'viewer' });
    expect((await run('sso-providers list')).out).toContain(id);
    const proof = '--required-amr mfa hwk --required-acr gold --max-age-seconds 600';
    const proven = await run(`sso-providers proof ${id} ${proof} -o json`);
    expect(JSON.parse(proven.out).options).toMatchObject({
      ...{ required_amr: ['mfa', 'hwk'], required_acr: ['gold'], max_age_seconds: 600 },
    });
    expect((await run('sso-providers list -o wide')).out).toContain('amr=hwk, 600 s');
    expect((await run(`sso-providers proof ${id}`)).code).toBe(2);
    expect((await run(`sso-providers proof ${id} --max-age-seconds soon`)).code).toBe(2);
    const none = await run(`sso-providers proof ${id} --none -o json`);
    expect(JSON.parse(none.out).options).toMatchObject({
      ...{ required_amr: [], required_acr: [], max_age_seconds: null },
    });
    expect((await run(`sso-providers disable ${id}`)).code).toBe(0);
    expect(JSON.parse((await run(`sso-providers get ${id} -o json`)).out).is_enabled).toBe(false);
    expect((await run(`sso-providers enable ${id}`)).code).toBe(0);
    expect(await run(`sso-providers remove ${id}`)).toMatchObject({ code: 2 });
    expect(await run(`sso-providers remove ${id} --yes`)).toMatchObject({ code: 0, out: id });
    expect((await run(`sso-providers get ${id}`)).code).not.toBe(0);
  });
});
