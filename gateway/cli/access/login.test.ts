// Logging in from the command line against a whole Console: what is asked, what is kept, and what is left on either side.
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { TOTP_STEP_MS } from '../../../machines/limits.ts';
import { ROLE_SCOPES } from '../../../machines/trust/roles.rules.ts';
import {
  type ConsoleUnderTest,
  removeSharedKeys,
  startConsole,
} from '../../../props/attacks/console.fixture.ts';
import { addPerson, PASSWORD } from '../../../props/attacks/person.ts';
import { codeOfApp, createPersonWithApp } from '../../../props/attacks/person-with-app.ts';
import type { ContextFile } from '../plumbing/context-file.ts';
import { runProgram } from '../plumbing/program.ts';

let console: ConsoleUnderTest;
let home: string;
let url: string;
let fingerprint: string;

beforeAll(async () => {
  console = await startConsole();
  url = `https://localhost:${console.port}`;
  fingerprint = new X509Certificate(console.ca).fingerprint256;
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cli-login-'));
  return () => rmSync(home, { recursive: true, force: true });
});

type Person = { readonly answers?: readonly string[]; readonly secrets?: readonly string[] };

async function run(argv: readonly string[], { answers, secrets = [] }: Person = {}) {
  const [out, err, asked]: [string[], string[], string[]] = [[], [], []];
  const [plainly, hidden] = [[...(answers ?? [])], [...secrets]];
  const code = await runProgram(argv, {
    env: { XDG_CONFIG_HOME: home },
    terminal: {
      out: (text) => void out.push(text),
      talk: (text) => void err.push(text),
      isInteractive: answers !== undefined,
      colors: pc.createColors(false),
    },
    now: () => console.time.now(),
    signal: new AbortController().signal,
    ask: async (question) => {
      asked.push(question);
      return plainly.shift() ?? '';
    },
    askSecret: async (question) => {
      asked.push(question);
      return hidden.shift() ?? '';
    },
  });
  return { code, out, err: err.join('\n'), asked };
}

const file = () => join(home, 'service', 'config.yaml');
const contexts = (): ContextFile => parse(readFileSync(file(), 'utf8'));
const keysOf = (userId: string) =>
  console.stores.relational.apiKeys.list({ userId, limit: 100, before: null });
const login = (email: string, more: readonly string[] = []) =>
  run(['login', '--url', url, '--email', email, '--ca-fingerprint', fingerprint, ...more], {
    secrets: [PASSWORD],
  });

describe('logging in', () => {
  it('should keep a key that can do what the person can, for its owner only, and no session', async () => {
    const { email, userId } = await addPerson(console, 'analyst');
    const { code, out, err } = await login(email, ['--days', '7']);
    expect(err).toContain('Logged in');
    expect(code).toBe(0);
    const name = new URL(url).host;
    expect(out).toEqual([name]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const [key] = await keysOf(userId);
    expect(new Set(key?.scopes)).toEqual(new Set(ROLE_SCOPES.analyst));
    expect(key?.name).toMatch(/^cli .+@/);
    expect(Number(key?.expiresAtMs) - Number(key?.createdAtMs)).toBeLessThanOrEqual(7 * 86_400_000);
    const { current, contexts: kept } = contexts();
    expect(current).toBe(name);
    expect(kept[name]).toMatchObject({ url, key_id: key?.keyId });
    const text = readFileSync(file(), 'utf8');
    expect(text).not.toContain(PASSWORD);
    expect(text).not.toContain('__Host');
    const { sessions } = console.stores.relational;
    expect(await sessions.listOf(userId, console.time.now())).toEqual([]);
    expect((await run(['sensors', 'list'])).code).toBe(0);
    expect((await run(['tokens', 'list'])).code).toBe(4);
  });

  it('should ask for everything on a terminal, the CA included', async () => {
    const { email } = await addPerson(console, 'viewer');
    const answers = [url, 'yes', email];
    const { code, err, asked } = await run(['login'], { answers, secrets: [PASSWORD] });
    expect(code).toBe(0);
    expect(err).toContain(fingerprint);
    expect(asked.map((one) => one.split(' ')[0])).toEqual(['Where', 'Is', 'E-mail:', 'Password:']);
    // Known now: the same CA is not asked about again.
    const again = await run(['login', '--email', email], { answers: [], secrets: [PASSWORD] });
    expect(again).toMatchObject({ code: 0, asked: ['Password: '] });
  });

  it('should send nothing to a Console that nobody vouches for', async () => {
    const { email } = await addPerson(console, 'viewer');
    const secrets = [PASSWORD];
    const options = ['login', '--url', url, '--email', email];
    const silent = await run(options, { secrets });
    expect(silent).toMatchObject({ code: 7, asked: [] });
    expect(silent.err).toContain(fingerprint);
    const other = ['--ca-fingerprint', 'ab'.repeat(32)];
    expect(await run([...options, ...other], { secrets })).toMatchObject({ code: 7, asked: [] });
    const doubtful = await run(options, { answers: ['no'], secrets });
    expect(doubtful.code).toBe(2);
    expect(doubtful.asked).toHaveLength(1);
    expect(existsSync(file())).toBe(false);
    expect((await run(['login', '--url', 'http://localhost', '--email', email])).code).toBe(2);
    expect((await run(['login', '--url', url], { secrets })).code).toBe(7);
  });

  it('should say that the password is wrong, and keep nothing', async () => {
    const { email, userId } = await addPerson(console, 'viewer');
    const options = ['login', '--url', url, '--email', email, '--ca-fingerprint', fingerprint];
    const { code } = await run(options, { secrets: ['not my password'] });
    expect(code).toBe(4);
    expect((await run(options)).code).toBe(2);
    expect(existsSync(file())).toBe(false);
    expect(await keysOf(userId)).toEqual([]);
  });

  it('should tell when the account was used before, what was refused, and what changed', async () => {
    const { email } = await addPerson(console, 'analyst');
    expect((await login(email)).err).not.toContain('Last login');
    const quiet = await login(email);
    expect(quiet.err).toMatch(/^Last login: \d{4}-\d\d-\d\dT\S+Z from 127\.0\.0\.1\.$/m);
    expect(quiet.err).not.toContain('refused');
    // The login of before made the key that this one is told of.
    expect(quiet.err).toContain(`Since then: api_key.create at `);
    const wrong = ['login', '--url', url, '--email', email, '--ca-fingerprint', fingerprint];
    for (const guess of ['first wrong guess', 'second wrong guess']) {
      await run(wrong, { secrets: [guess] });
    }
    expect((await login(email)).err).toContain('2 tries were refused since then.');
  });

  it('should ask for the second factor of whoever has one', async () => {
    console.holdAt(Math.ceil(console.time.now() / TOTP_STEP_MS) * TOTP_STEP_MS + 15_000);
    const person = await createPersonWithApp(console, 'viewer');
    const { secret } = await person.enroll((await person.login()).session);
    console.travel(2 * TOTP_STEP_MS);
    const shown = codeOfApp(secret, console.time.now());
    const { email } = (await console.stores.relational.users.get(person.userId)) ?? { email: '' };
    const options = ['login', '--url', url, '--email', email];
    options.push('--ca-fingerprint', fingerprint);
    const wrong = await run(options, { secrets: [PASSWORD, '12'] });
    expect(wrong.code).toBe(4);
    const right = await run(options, { secrets: [PASSWORD, shown] });
    expect(right.err).toContain('Logged in');
    expect(right.asked).toHaveLength(2);
  });

  it('should hold less than the person when that is asked for, and never more', async () => {
    const { email, userId } = await addPerson(console, 'viewer');
    expect((await login(email, ['--scope', 'events:read'])).code).toBe(0);
    expect((await keysOf(userId))[0]?.scopes).toEqual(['events:read']);
    expect((await login(email, ['--scope', 'users:write'])).code).toBe(4);
    expect((await login(email, ['--days', '366'])).code).toBe(2);
  });

  it('should replace the key of the login before', async () => {
    const { email, userId } = await addPerson(console, 'viewer');
    await login(email);
    await login(email);
    const keys = await keysOf(userId);
    expect(keys.map(({ revokedAtMs }) => revokedAtMs === null)).toEqual([true, false]);
    expect(contexts().contexts[new URL(url).host]?.key_id).toBe(keys[0]?.keyId);
  });
});

describe('asking who one is', () => {
  it('should name the Console, the person, the key and what it may do', async () => {
    const { email } = await addPerson(console, 'viewer');
    await login(email, ['--scope', 'events:read', 'sensors:read']);
    const { code, out } = await run(['whoami']);
    expect([code, out[0], out[1], out[2]]).toEqual([
      ...[0, expect.stringContaining(url), expect.stringMatching(`^WHO +${email}$`)],
      expect.stringMatching(/^ROLE +viewer$/),
    ]);
    expect(out[3]).toMatch(/^KEY +cli .+ \(\S+\)$/);
    expect(out[4]).toMatch(/^EXPIRES +20/);
    expect(out[5]).toMatch(/^MAY +(events:read sensors:read|sensors:read events:read)$/);
    const told = JSON.parse((await run(['whoami', '-o', 'json'])).out.join(''));
    expect(told).toMatchObject({ url, kind: 'api_key', role: 'viewer', user: { email } });
    expect((await run(['whoami', '-o', 'name'])).out).toEqual([email]);
    await run(['logout']);
    const nobody = await run(['whoami']);
    expect(nobody.code).toBe(2);
    expect(nobody.err).toContain('service-console login');
  });
});

describe('logging out', () => {
  it('should revoke the key and forget the context, and leave the others', async () => {
    const [one, other] = [await addPerson(console, 'viewer'), await addPerson(console, 'viewer')];
    await login(one.email, ['--context', 'one']);
    await login(other.email, ['--context', 'other']);
    const { code, out } = await run(['logout']);
    expect({ code, out }).toEqual({ code: 0, out: ['other'] });
    expect((await keysOf(other.userId))[0]?.revokedAtMs).not.toBeNull();
    expect((await keysOf(one.userId))[0]?.revokedAtMs).toBeNull();
    expect(contexts()).toMatchObject({ current: 'one' });
    expect(contexts().contexts).not.toHaveProperty('other');
    await console.stores.relational.users.remove({
      ...{ userId: one.userId, actor: 'test', nowMs: 0 },
    });
    // A key that ended already is no reason to keep it.
    expect((await run(['logout', '--context', 'one'])).code).toBe(0);
    expect((await run(['logout'])).code).toBe(5);
    expect((await run(['sensors', 'list'])).code).toBe(2);
  });
});

describe('API keys from the command line', () => {
  it('should be made with the password, listed and revoked', async () => {
    const { email, userId } = await addPerson(console, 'operator');
    await login(email);
    const options = ['api-keys', 'create', '--name', 'CI', '--scope', 'sensors:read'];
    const person = { secrets: [PASSWORD] };
    const made = await run([...options, '--email', email, '--days', '3'], person);
    expect(made.code).toBe(0);
    expect(made.out[0]).toMatch(/^svck_/);
    expect(made.asked).toEqual(['Password: ']);
    const [key, own] = await keysOf(userId);
    expect(key).toMatchObject({ name: 'CI', scopes: ['sensors:read'] });
    const table = await run(['api-keys', 'list']);
    expect(table.out[0]).toMatch(/^ID +NAME +STATUS +EXPIRES +USED +AGE$/);
    expect(table.out[1]).toMatch(new RegExp(`^${key?.keyId} +CI +usable +\\S+Z +`));
    expect((await run(['api-keys', 'list', '-o', 'name'])).out).toEqual([key?.keyId, own?.keyId]);
    expect((await run(['api-keys', 'list', '--all'])).code).toBe(4);
    const revoke = ['api-keys', 'revoke', String(key?.keyId)];
    expect((await run([...revoke, '--email', email], person)).out).toEqual([key?.keyId]);
    expect((await keysOf(userId))[0]?.revokedAtMs).not.toBeNull();
    const itself = await run(['api-keys', 'revoke', String(own?.keyId)]);
    expect(itself).toMatchObject({ code: 0, asked: [] });
    expect((await run(['api-keys', 'list'])).code).toBe(4);
  });

  it('should be those of everybody for an admin', async () => {
    const [admin, other] = [await addPerson(console, 'admin'), await addPerson(console, 'viewer')];
    await login(other.email);
    await login(admin.email, ['--context', 'admin']);
    const [key] = await keysOf(other.userId);
    const all = await run(['api-keys', 'list', '--all', '-o', 'name']);
    expect(all.out).toContain(key?.keyId);
    expect((await run(['api-keys', 'revoke', '--all', String(key?.keyId)])).code).toBe(0);
    expect((await keysOf(other.userId))[0]?.revokedAtMs).not.toBeNull();
    const never = ['api-keys', 'create', '--name', 'x', '--scope', 'admin', '--never'];
    const made = await run([...never, '-o', 'json', '--email', admin.email], {
      secrets: [PASSWORD],
    });
    expect(JSON.parse(made.out.join(''))).toMatchObject({ expires_at: null, scopes: ['admin'] });
  });
});
