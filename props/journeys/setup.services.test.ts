// A Console that was told nothing, from its first start to service: killed between two answers and started again, set up by
// the command line, restarted by its own parent, and then closed to any further setup. And the same for cloud mode, from a
// file. decision: D42
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { callSetup, type SetupCall } from '../attacks/setup-peer.ts';
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
const ADMIN = {
  ...{ email: 'ada@example.org', display_name: 'Ada' },
  password: 'a long walk along the quiet shore',
};
let home: Home;
let program: Program | null = null;
afterEach(async () => {
  program?.kill('SIGTERM');
  await program?.exited;
  program = null;
  await removeHome(home);
}, TEST_MS);

const serve = (env: Record<string, string> = {}) => {
  program = startProgram(CONSOLE, ['serve'], { env: { ...home.env, ...env } });
  return program;
};
const ask = (method: string, path: string, more: Partial<SetupCall> = {}) =>
  callSetup({ port: home.port, method, path, ...more });
const codeOf = async (running: Program) => {
  const line = await running.prints(/Setup code {2}[0-9A-Z-]{14}/, START_MS);
  return line.slice(-14);
};
const login = (password: string) =>
  ask('POST', '/api/v2/auth/login', { body: { email: ADMIN.email, password } });
const isReady = async () => ((await ask('GET', '/readyz')).status === 200 ? true : null);

/** A home without any configuration. */
async function makeEmptyHome() {
  home = await makeHome();
  rmSync(join(home.consoleDir, 'console.yaml'));
}

describe('a Console that was told nothing', () => {
  it('should be set up, killed in between, restarted by its parent, and then closed', {
    timeout: TEST_MS,
  }, async () => {
    await makeEmptyHome();
    const first = serve();
    const code = await codeOf(first);
    const { body } = await ask('POST', '/api/v2/setup/unlock', { body: { code } });
    const token = String(body['token']);
    const answered = await ask('PUT', '/api/v2/setup/platform', {
      ...{ token, body: { platform: 'telecom' } },
    });
    expect(answered.status).toBe(200);
    // The child is what listens; its parent goes with it.
    const { pid } = JSON.parse(readFileSync(join(home.consoleDir, 'console.lock'), 'utf8')) as {
      pid: number;
    };
    process.kill(pid, 'SIGKILL');
    await first.exited;
    expect(existsSync(join(home.consoleDir, 'console.yaml'))).toBe(false);

    const second = serve();
    const nextCode = await codeOf(second);
    expect(nextCode).not.toBe(code);
    const fingerprint = /CA SHA-256 {2}([0-9A-F:]{95})/.exec(second.output())?.[1] ?? '';
    const answers = join(home.folder, 'answers.yaml');
    writeFileSync(answers, JSON.stringify({ platform: 'telecom', admin: ADMIN }));
    const setUp = (more: readonly string[], codeShown: string) =>
      startProgram(
        CONSOLE,
        ['setup', '--url', `https://localhost:${home.port}`, '--from', answers, ...more],
        { env: { ...home.env, SERVICE_SETUP_CODE: codeShown } },
      );
    const wrong = setUp(['--ca-fingerprint', 'AA'.repeat(32)], nextCode);
    expect(await wrong.exited).toBe(7);
    const guessed = setUp(['--ca-fingerprint', fingerprint], 'AAAA-AAAA-AAAA');
    expect(await guessed.exited).toBe(4);
    const done = setUp(['--ca-fingerprint', fingerprint], nextCode);
    expect([await done.exited, done.output()]).toEqual([0, expect.stringContaining('serves at')]);

    // The parent is the same process; what it runs is another one, with the configuration.
    expect(second.isRunning()).toBe(true);
    expect(parse(readFileSync(join(home.consoleDir, 'console.yaml'), 'utf8'))).toMatchObject({
      platform: 'telecom',
    });
    expect(existsSync(join(home.consoleDir, 'setup.json'))).toBe(false);
    for (const [method, path] of [
      ['GET', '/setup'],
      ['GET', '/api/v2/setup'],
      ['POST', '/api/v2/setup/unlock'],
    ] as const) {
      expect((await ask(method, path, method === 'POST' ? { body: {} } : {})).status).toBe(404);
    }
    expect((await login('wrong '.repeat(4))).status).toBe(401);
    expect((await login(ADMIN.password)).status).toBe(200);
    expect((await ask('GET', '/version')).body).toMatchObject({ platform: 'telecom' });
    for (const text of [ADMIN.password, code, nextCode]) {
      expect(second.stdout()).not.toContain(text);
    }
  });

  it('should be provisioned from a file in cloud mode, as often as it starts', {
    timeout: TEST_MS,
  }, async () => {
    await makeEmptyHome();
    const file = join(home.folder, 'provisioning.yaml');
    const env = { SERVICE_CONSOLE_MODE: 'cloud', SERVICE_CONSOLE_PROVISIONING: file };
    const settings = { analytics_retention_days: 30 };
    writeFileSync(file, JSON.stringify({ admin: { ...ADMIN, email: 'nobody' }, setings: {} }));
    const refused = serve(env);
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toMatch(/provisioning: .*setings: there is no such field/);

    writeFileSync(file, JSON.stringify({ admin: ADMIN, settings }));
    for (let start = 0; start < 2; start += 1) {
      const running = serve(env);
      await eventually('it serves', isReady, START_MS);
      expect((await ask('GET', '/setup')).status).toBe(404);
      expect((await login(ADMIN.password)).status).toBe(200);
      running.kill('SIGTERM');
      expect(await running.exited).toBe(0);
    }
  });
});
