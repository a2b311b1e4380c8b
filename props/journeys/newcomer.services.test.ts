// Somebody who has never seen the product, with curl and an app that shows codes: the first run, the first login, a second
// factor, a key for programs, the command line with that key and with a login of its own, and a colleague who comes through
// an identity provider. Nothing is trusted before
// the fingerprint that the terminal shows was compared. decision: D17, D37, D39, D40, D42, D43
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Secret, TOTP } from 'otpauth';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OidcPeer, openOidcPeer } from '../peers/oidc-peer.ts';
import {
  eventually,
  type Home,
  makeHome,
  type Program,
  removeHome,
  startProgram,
} from './programs.ts';

const CONSOLE = 'gateway/cli/service-console.js';
const START_MS = 120_000;
const TEST_MS = 300_000;
const STEP_MS = 30_000;
const run = promisify(execFile);
const ADMIN = {
  ...{ email: 'ada@example.org', display_name: 'Ada' },
  password: 'a long walk along the quiet shore',
};

type Answer = { readonly status: number; readonly body: Record<string, unknown> };
let home: Home;
let program: Program;
let peer: OidcPeer;

beforeEach(async () => {
  home = await makeHome();
  // Told nothing yet.
  rmSync(join(home.consoleDir, 'console.yaml'));
  program = startProgram(CONSOLE, ['serve'], { env: home.env });
  peer = await openOidcPeer({ redirectUri: url('/api/v2/auth/sso/callback') });
});
afterEach(async () => {
  program.kill('SIGTERM');
  await program.exited;
  await peer.close();
  await removeHome(home);
}, TEST_MS);

const file = (name: string) => join(home.folder, name);
const url = (path: string) => `https://localhost:${home.port}${path}`;

/** One request with curl; whom it trusts and which cookies it keeps stands in `trust`. */
async function curl(
  trust: readonly string[],
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const sent =
    body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
  const { stdout } = await run('curl', [
    ...['-sS', '--max-time', '60', '-X', method, '-w', '\n%{http_code}'],
    ...[...trust, ...sent, url(path)],
  ]);
  const end = stdout.lastIndexOf('\n');
  const text = stdout.slice(0, end);
  const isJson = text.startsWith('{');
  return { status: Number(stdout.slice(end)), body: isJson ? JSON.parse(text) : {} };
}

/** Keeps the CA that the Console hands out, once its fingerprint is the printed one. */
async function trustPrinted(fingerprint: string): Promise<readonly string[]> {
  const { stdout: ca } = await run('curl', ['-sSk', url('/ca.pem')]);
  expect(new X509Certificate(ca).fingerprint256).toBe(fingerprint);
  writeFileSync(file('ca.pem'), ca);
  return ['--cacert', file('ca.pem')];
}

/** Runs the command line to its end. */
async function cli(args: readonly string[], env: Record<string, string> = {}, stdin = '') {
  const command = startProgram(CONSOLE, args, { env: { ...home.env, ...env }, stdin });
  return { code: await command.exited, out: command.stdout().trim(), all: command.output() };
}

/** What the app shows some steps from now. */
const appCode = (secret: string, steps: number) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: Date.now() + steps * STEP_MS,
  });

describe('a newcomer', () => {
  it('should get from an empty folder to a command line of its own', {
    timeout: TEST_MS,
  }, async () => {
    // The first run, with the code from the terminal.
    const code = (await program.prints(/Setup code {2}[0-9A-Z-]{14}/, START_MS)).slice(-14);
    const shown = await program.prints(/CA SHA-256 {2}[0-9A-F:]{95}/);
    const trust = await trustPrinted(shown.slice(-95));
    const unlocked = await curl(trust, 'POST', '/api/v2/setup/unlock', { code });
    const setup = [...trust, '-H', `authorization: Bearer ${unlocked.body['token']}`];
    for (const [step, body] of [
      ['platform', { platform: 'standard' }],
      ['database', { kind: 'embedded' }],
      ['analytics', { kind: 'embedded' }],
      ['admin', ADMIN],
    ] as const) {
      expect((await curl(setup, 'PUT', `/api/v2/setup/${step}`, body)).status).toBe(200);
    }
    expect((await curl(setup, 'POST', '/api/v2/setup/finish')).status).toBeLessThan(300);
    const isReady = () =>
      curl(trust, 'GET', '/readyz').then(
        ({ status }) => (status === 200 ? true : null),
        () => null,
      );
    await eventually('the Console serves', isReady, START_MS);

    // The first login, a second factor, and a login that shows it.
    const jar = [...trust, '-b', file('jar'), '-c', file('jar'), '-H', 'x-service-csrf: 1'];
    const person = [...jar, '-H', `origin: https://localhost:${home.port}`];
    const { email, password } = ADMIN;
    const login = () => curl(person, 'POST', '/api/v2/auth/login', { email, password });
    expect((await login()).body).toMatchObject({ stage: 'partial', needs: 'totp_enrollment' });
    const enroll = await curl(person, 'POST', '/api/v2/auth/mfa/enroll', { password });
    expect(enroll.body['qr_svg']).toMatch(/^<svg /);
    const secret = new URL(String(enroll.body['otpauth_uri'])).searchParams.get('secret') ?? '';
    expect(secret).toBe(enroll.body['secret']);
    // The code before, so that the present one is left for later; a step must not end between them.
    const inStep = () => Date.now() % STEP_MS;
    await expect.poll(inStep, { timeout: STEP_MS }).toBeLessThan(STEP_MS - 10_000);
    const first = { code: appCode(secret, -1) };
    const confirmed = await curl(person, 'POST', '/api/v2/auth/mfa/confirm', first);
    const recovery = confirmed.body['recovery_codes'] as readonly string[];
    expect(recovery).toHaveLength(10);
    expect((await curl(person, 'POST', '/api/v2/auth/logout')).status).toBe(200);
    expect((await curl(person, 'GET', '/api/v2/sensors')).status).toBe(401);
    expect((await login()).body).toMatchObject({ stage: 'partial', needs: 'totp' });
    expect((await curl(person, 'GET', '/api/v2/sensors')).status).toBe(403);
    const again = await curl(person, 'POST', '/api/v2/auth/mfa/verify', first);
    expect(again.body['code']).toBe('mfa_code_invalid');
    const next = { code: appCode(secret, 0) };
    const verified = await curl(person, 'POST', '/api/v2/auth/mfa/verify', next);
    expect(verified.body).toMatchObject({ method: 'totp', stage: 'full' });
    expect((await curl(person, 'GET', '/api/v2/sensors')).status).toBe(200);

    // A key for programs, and the command line with it.
    const made = await curl(person, 'POST', '/api/v2/api-keys', {
      ...{ name: 'reader', scopes: ['sensors:read'] },
    });
    expect(made.status).toBe(201);
    const keyed = {
      SERVICE_CONSOLE_URL: url(''),
      SERVICE_CONSOLE_CA: file('ca.pem'),
      SERVICE_TOKEN: String(made.body['secret']),
    };
    expect(await cli(['sensors', 'list'], keyed)).toMatchObject({ code: 0 });
    expect((await cli(['users', 'list'], keyed)).all).toContain('users:read');

    // The same person at the command line: password and a recovery code, and a key of its own is kept.
    const stdin = `${password}\n${recovery[0]}\n`;
    const fingerprint = shown.slice(-95);
    const args = ['login', '--url', url(''), '--email', email, '--ca-fingerprint', fingerprint];
    expect(await cli(args, {}, stdin)).toMatchObject({ code: 0 });
    const context = join(home.folder, 'config', 'service', 'config.yaml');
    expect(statSync(context).mode & 0o777).toBe(0o600);
    const users = await cli(['users', 'list']);
    expect(users.out).toMatch(/ada@example\.org +admin +active +on /);
    const used = await cli(args, {}, stdin);
    expect(used.code).not.toBe(0);
    expect(used.all).toContain('each works once');

    expect((await cli(['whoami'])).out).toMatch(/^WHO +ada@example\.org$/m);

    // A provider of logins, and a colleague who comes through it with nothing but a browser's cookies.
    writeFileSync(file('peer.pem'), peer.caPem);
    writeFileSync(file('client-secret'), peer.client.secret);
    // It is a process of this machine, as it never is in earnest.
    expect(await cli(['settings', 'set', 'webhook_allow_list=127.0.0.0/8,::1'])).toMatchObject({
      code: 0,
    });
    const provider = await cli([
      ...['sso', 'create', '--kind', 'oidc', '--name', 'Example', '--issuer', peer.issuer],
      ...['--client-id', peer.client.id, '--client-secret-file', file('client-secret')],
      ...['--ca-file', file('peer.pem'), '--group-role', 'ops=operator', '-o', 'name'],
    ]);
    expect(provider.all).toContain(url('/api/v2/auth/sso/callback'));
    expect(await cli(['sso', 'test', provider.out])).toMatchObject({ code: 0 });
    const proof = { revision: 1, options: { required_amr: ['mfa'] } };
    const asked = await curl(person, 'PATCH', `/api/v2/sso-providers/${provider.out}`, proof);
    expect(asked.status).toBe(200);
    const known = { email: 'ann@example.org', email_verified: true, groups: ['ops'] };
    peer.logsIn('ann', known);
    peer.does.token = (claims) => ({ ...claims, amr: ['pwd', 'mfa'] });
    writeFileSync(file('both.pem'), `${readFileSync(file('ca.pem'), 'utf8')}${peer.caPem}`);
    const colleague = ['--cacert', file('both.pem'), '-b', file('jar-2'), '-c', file('jar-2')];
    const start = `/api/v2/auth/sso/start?provider=${provider.out}`;
    expect((await curl([...colleague, '-L'], 'GET', start)).status).toBe(200);
    expect((await curl(colleague, 'GET', '/api/v2/auth/whoami')).body).toMatchObject({
      ...{ kind: 'session', role: 'operator', user: { email: 'ann@example.org' } },
    });
    expect((await curl(colleague, 'GET', '/api/v2/users')).body['code']).toBe('role_required');

    // What was done is told, and no secret with it.
    const audit = await cli(['audit', 'list', '-o', 'json']);
    for (const action of [
      'mfa.enable',
      'mfa.recovery_code_used',
      'sso_provider.create',
      'user.login',
    ]) {
      expect(audit.out).toContain(action);
    }
    for (const hidden of [
      password,
      secret,
      recovery[1] ?? '',
      keyed.SERVICE_TOKEN,
      peer.client.secret,
    ]) {
      expect(audit.out).not.toContain(hidden);
      expect(program.output()).not.toContain(hidden);
    }
    const keyId = String(made.body['key_id']);
    expect((await curl(person, 'DELETE', `/api/v2/api-keys/${keyId}`)).status).toBeLessThan(300);
    expect((await cli(['sensors', 'list'], keyed)).code).not.toBe(0);
  });
});
