// What people do with their own account from the command line, against a whole Console: a link becomes a password, a
// password another one, and an app a second factor, also where an account must have one. decision: D37, D39
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ConsoleUnderTest,
  removeSharedKeys,
  startConsole,
} from '../../../props/attacks/console.fixture.ts';
import { addPerson, PASSWORD } from '../../../props/attacks/person.ts';
import { codeOfApp } from '../../../props/attacks/person-with-app.ts';
import { runProgram } from '../plumbing/program.ts';

const NEXT = 'another walk along the loud river';
let console: ConsoleUnderTest;
let home: string;
let where: readonly string[];

beforeAll(async () => {
  console = await startConsole();
  const fingerprint = new X509Certificate(console.ca).fingerprint256;
  where = ['--url', `https://localhost:${console.port}`, '--ca-fingerprint', fingerprint];
});
afterAll(async () => {
  await console.stop();
  await removeSharedKeys();
});
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cli-own-'));
  return () => rmSync(home, { recursive: true, force: true });
});

const APP = 'what the app shows';

/** `secrets` are typed one after the other; APP is the code of the secret that was shown last. */
async function run(argv: readonly string[], secrets: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const typed = [...secrets];
  const code = await runProgram(argv, {
    env: { XDG_CONFIG_HOME: home },
    terminal: {
      out: (text) => void out.push(text),
      talk: (text) => void err.push(text),
      isInteractive: false,
      colors: pc.createColors(false),
    },
    now: () => console.time.now(),
    signal: new AbortController().signal,
    ask: async () => '',
    askSecret: async () => {
      const next = typed.shift() ?? '';
      const shown = /^Secret: (\S+)$/m.exec(err.join('\n'))?.[1] ?? '';
      return next === APP ? codeOfApp(shown, console.time.now()) : next;
    },
  });
  return { code, out, err: err.join('\n') };
}
const login = (email: string, ...secrets: readonly string[]) =>
  run(['login', ...where, '--email', email], secrets);

describe('an own account', () => {
  it('should get its password from a link, once, without a context', async () => {
    const { email } = await addPerson(console, 'viewer');
    const admin = await addPerson(console, 'admin');
    await login(admin.email, PASSWORD);
    const { out } = await run(['users', 'reset-link', email], []);
    const reset = ['password', 'reset', ...where];
    expect((await run(reset, [out[0] ?? '', 'password'])).code).toBe(2);
    const done = await run(reset, [out[0] ?? '', NEXT]);
    expect([done.code, done.out]).toEqual([0, [email]]);
    expect((await run(reset, [out[0] ?? '', NEXT])).code).not.toBe(0);
    expect((await login(email, NEXT)).code).toBe(0);
  });

  it('should change its password with the old one only', async () => {
    const { email } = await addPerson(console, 'viewer');
    await login(email, PASSWORD);
    const change = ['password', 'change', '--email', email];
    expect((await run(change, ['not mine', NEXT])).code).toBe(4);
    expect((await run(change, [PASSWORD, NEXT])).err).toContain('The password is changed');
    expect((await login(email, PASSWORD)).code).toBe(4);
    expect((await login(email, NEXT)).code).toBe(0);
  });

  it('should get a second factor, and need it from then on', async () => {
    const { email, userId } = await addPerson(console, 'viewer');
    await login(email, PASSWORD);
    const enable = ['mfa', 'enable', '--email', email];
    expect((await run(enable, [PASSWORD, '000000'])).code).not.toBe(0);
    const on = await run(enable, [PASSWORD, APP]);
    expect(on.code).toBe(0);
    expect(on.out).toHaveLength(10);
    expect(on.err).toContain('\u2588');
    expect((await console.stores.relational.users.get(userId))?.mfa.state).toBe('on');
    const again = await run(enable, [PASSWORD, on.out[0] ?? '']);
    expect(again.err).toContain('has a second factor already');
    expect((await login(email, PASSWORD)).code).toBe(2);
    expect((await login(email, PASSWORD, on.out[1] ?? '')).code).toBe(0);
  });

  it('should set a second factor up at its login where it must have one', async () => {
    const { email } = await addPerson(console, 'operator');
    const admin = await addPerson(console, 'admin');
    await login(admin.email, PASSWORD);
    const set = await run(['settings', 'set', 'mfa_required_roles=operator'], []);
    expect(set.code).toBe(0);
    const { code, err } = await login(email, PASSWORD, APP);
    expect(err).toContain('must set up a second factor');
    expect(err.match(/^ {2}\S+$/gm)).toHaveLength(10);
    expect(code).toBe(0);
    expect((await run(['sensors', 'list'], [])).code).toBe(0);
  });
});
