// The first run by HTTP on the real listener: closed to who has not shown the code, everything else 503, answers judged and
// kept over a crash, and a configuration that is there whole or not at all. decision: D42; invariant: I11, I14
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { setupFiles } from '../../gateway/cli/settings/setup-files.ts';
import { openSetup, type RunningSetup } from '../../gateway/cli/start/serve-setup.ts';
import { loadConfig } from '../../gateway/config/config.ts';
import { runProvisioning } from '../../gateway/setup/run-provisioning.ts';
import { SETUP_CODE_ATTEMPTS_PER_MINUTE, SETUP_REFUSALS_KEPT_MAX } from '../../machines/limits.ts';
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import { withoutSecrets } from '../../storage/ports/plumbing/store-address.ts';
import { callSetup, type SetupCall } from './setup-peer.ts';

const folders: string[] = [];
const running: RunningSetup[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'setup-'));
  folders.push(folder);
  return folder;
}

async function open(folder = newFolder()) {
  const env = {
    SERVICE_CONSOLE_DATA_DIR: folder,
    SERVICE_CONSOLE_PORT: '0',
    SERVICE_CONSOLE_BIND: '127.0.0.1',
  };
  const loaded = loadConfig({ env, isRoot: false });
  if (!loaded.ok) throw new Error(loaded.mistakes.join());
  const codes: string[] = [];
  const setup = await openSetup({
    ...{ config: loaded.config, env, version: '0.1.0', logger: silentLogger },
    tellCode: (code) => void codes.push(code),
  });
  running.push(setup);
  const ask = (method: string, path: string, more: Partial<SetupCall> = {}) =>
    callSetup({ port: setup.port, method, path, ...more });
  const unlock = async () => {
    const code = codes.at(-1) ?? '';
    const { body } = await ask('POST', '/api/v2/setup/unlock', { body: { code } });
    return String(body['token']);
  };
  const stop = async () => {
    running.splice(running.indexOf(setup), 1);
    await setup.stop();
  };
  return { folder, codes, setup, ask, unlock, stop };
}
const ADMIN = {
  email: 'ada@example.org',
  display_name: 'Ada',
  password: 'a long walk along the quiet shore',
};

describe('the first run', () => {
  it('should answer everything but itself with 503, and say so to probes', async () => {
    const { ask, setup } = await open();
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/api/v2/sensors'],
      ['POST', '/sensors/heartbeat'],
      ['POST', '/sensors/enroll'],
      ['GET', '/setup/../keys'],
      ['PUT', '/setup'],
    ] as const) {
      const { status, body } = await ask(method, path);
      expect([path, status, body['code']]).toEqual([path, 503, 'setup_required']);
    }
    expect(await ask('GET', '/livez')).toMatchObject({ status: 200, body: { setup: true } });
    expect(await ask('GET', '/readyz')).toMatchObject({ status: 503, body: { because: 'setup' } });
    const ca = await ask('GET', '/ca.pem');
    const { fingerprint256 } = new X509Certificate(ca.text);
    expect([ca.status, fingerprint256]).toEqual([200, setup.caFingerprint]);
    const page = await ask('GET', '/setup');
    expect(page.status).toBe(200);
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(page.text).not.toMatch(/ on[a-z]+="| style="|https?:\/\/(?!user)/);
  });

  it('should do nothing for who has not shown the code', async () => {
    const { ask, folder } = await open();
    for (const [method, path, body] of [
      ['PUT', 'platform', { platform: 'standard' }],
      ['POST', 'test', { store: 'database', url: 'postgres://127.0.0.1:1/x' }],
      ['PUT', 'admin', ADMIN],
      ['POST', 'finish', undefined],
      ['DELETE', 'license', undefined],
    ] as const) {
      for (const token of [undefined, 'x'.repeat(43)]) {
        const path_ = `/api/v2/setup/${path}`;
        const answer = await ask(method, path_, { body, token });
        if (answer.status !== 429) expect(answer).toMatchObject({ status: 401 });
      }
    }
    expect(existsSync(join(folder, 'setup.json'))).toBe(false);
  });

  it('should throttle who guesses, and let the right code in later only', async () => {
    const { ask, codes } = await open();
    const guess = (code: string) => ask('POST', '/api/v2/setup/unlock', { body: { code } });
    for (let at = 0; at < SETUP_CODE_ATTEMPTS_PER_MINUTE; at += 1) {
      expect((await guess(`AAAA-AAAA-AAA${at}`)).status).toBe(401);
    }
    const blocked = await guess(codes[0] ?? '');
    expect(blocked).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('should take a code once, however it is typed, and end the token before', async () => {
    const { ask, codes } = await open();
    const [first = ''] = codes;
    const guess = (code: string) => ask('POST', '/api/v2/setup/unlock', { body: { code } });
    const opened = await guess(` ${first.toLowerCase().replaceAll('-', ' ')} `);
    expect(opened.status).toBe(200);
    expect((await guess(first)).status).toBe(401);
    expect(codes.length).toBe(2);
    const token = String(opened.body['token']);
    expect((await ask('GET', '/api/v2/setup', { token })).body['state']).toBe('platform');
    expect((await guess(codes[1] ?? '')).status).toBe(200);
    const put = { token, body: { platform: 'standard' } };
    expect((await ask('PUT', '/api/v2/setup/platform', put)).status).toBe(401);
  });

  it('should refuse what is out of order, does not fit or cannot be reached', async () => {
    const { ask, unlock, folder } = await open();
    const token = await unlock();
    const put = (step: string, body: unknown) =>
      ask('PUT', `/api/v2/setup/${step}`, { token, body });
    expect((await put('admin', ADMIN)).body['code']).toBe('setup_out_of_order');
    expect((await ask('POST', '/api/v2/setup/finish', { token })).status).toBe(409);
    expect((await put('platform', { platform: 'other' })).body['code']).toBe('schema_violation');
    expect((await put('platform', { platform: 'standard', more: 1 })).status).toBe(422);
    expect((await put('platform', { platform: 'standard', base_url: 'http://x' })).status).toBe(
      422,
    );
    expect((await put('platform', { platform: 'telecom' })).status).toBe(200);
    expect((await put('analytics', { kind: 'embedded' })).body['code']).toBe('setup_out_of_order');
    const url = 'postgres://u:hunter2@127.0.0.1:1/x';
    const away = await put('database', { kind: 'external', url });
    expect(away).toMatchObject({ status: 422, body: { code: 'connection_failed' } });
    expect(away.text).not.toContain('hunter2');
    expect((await put('database', { kind: 'external', url: 'file:///etc/passwd' })).status).toBe(
      422,
    );
    expect((await put('license', { schema_version: 1 })).status).toBe(422);
    const weak = await put('admin', { email: 'nobody', password: 'password' });
    expect(weak.body['errors']).toMatchObject([{ pointer: '/email' }, { pointer: '/password' }]);
    const kept = parse(readFileSync(join(folder, 'setup.json'), 'utf8')) as object;
    expect(kept).toMatchObject({ done: ['platform'], configuration: { platform: 'telecom' } });
  });

  it('should try what it is asked to and keep nothing of it', async () => {
    const { ask, unlock, folder } = await open();
    const token = await unlock();
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const tried = (store: string, url: string) =>
      ask('POST', '/api/v2/setup/test', { token, body: { store, url } });
    try {
      for (const [store, url] of [
        ['database', `postgres://u:hunter2@127.0.0.1:${port}/x`],
        ['analytics', `http://u:hunter2@127.0.0.1:${port}`],
        ['redis', `redis://:hunter2@127.0.0.1:${port}`],
        ['redis', 'http://127.0.0.1'],
      ] as const) {
        const { status, body, text } = await tried(store, url);
        expect([url, status, body['code']]).toEqual([url, 422, 'connection_failed']);
        expect(text).not.toContain('hunter2');
      }
    } finally {
      server.close();
    }
    expect(existsSync(join(folder, 'setup.json'))).toBe(false);
  });

  it('should ask nobody for a broker before one can be used, and forget the one of an earlier version', async () => {
    const folder = newFolder();
    const kept = {
      ...{ version: 1, done: ['platform', 'broker'] },
      configuration: { platform: 'standard', redpanda_url: 'broker:9092' },
    };
    writeFileSync(join(folder, 'setup.json'), JSON.stringify(kept));
    const { ask, unlock } = await open(folder);
    const token = await unlock();
    const { body } = await ask('GET', '/api/v2/setup', { token });
    const steps = (body['steps'] as { step: string }[]).map(({ step }) => step);
    expect(steps).toEqual(['platform', 'database', 'analytics', 'redis', 'license', 'admin']);
    expect(body['answers']).toEqual({ platform: 'standard' });
    const url = 'broker:9092';
    expect((await ask('PUT', '/api/v2/setup/broker', { token, body: { url } })).status).toBe(503);
    const tested = await ask('POST', '/api/v2/setup/test', {
      ...{ token, body: { store: 'broker', url } },
    });
    expect(tested).toMatchObject({ status: 422, body: { code: 'schema_violation' } });
    expect(
      (await ask('PUT', '/api/v2/setup/database', { token, body: { kind: 'embedded' } })).status,
    ).toBe(200);
  });

  it('should keep what was answered over a crash, ask for a new code, and write it whole', async () => {
    const before = await open();
    const answer = async (
      { ask }: Pick<typeof before, 'ask'>,
      token: string,
      step: string,
      body: unknown,
    ) => expect((await ask('PUT', `/api/v2/setup/${step}`, { token, body })).status).toBe(200);
    const first = await before.unlock();
    await answer(before, first, 'platform', { platform: 'telecom', base_url: 'https://c.example' });
    await answer(before, first, 'database', { kind: 'embedded' });
    await answer(before, first, 'admin', ADMIN);
    const kept = join(before.folder, 'setup.json');
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect(readFileSync(kept, 'utf8')).not.toContain(ADMIN.password);
    // Nothing but what is on the disk is left of it.
    await before.stop();
    const again = await open(before.folder);
    expect(again.codes[0]).not.toBe(before.codes.at(-1));
    const closed = await again.ask('GET', '/api/v2/setup', { token: first });
    expect(closed.body).toEqual({ state: 'awaiting_code', version: '0.1.0' });
    const token = await again.unlock();
    expect((await again.ask('GET', '/api/v2/setup', { token })).body).toMatchObject({
      ...{ state: 'analytics', can_finish: false },
      answers: { platform: 'telecom', base_url: 'https://c.example', admin_email: ADMIN.email },
    });
    await answer(again, token, 'analytics', { kind: 'embedded' });
    const configuration = join(again.folder, 'console.yaml');
    expect(existsSync(configuration)).toBe(false);
    const finished = await again.ask('POST', '/api/v2/setup/finish', { token });
    expect(finished).toMatchObject({ status: 202, body: { state: 'restarting' } });
    await again.setup.written;
    expect(parse(readFileSync(configuration, 'utf8'))).toEqual({
      ...{ platform: 'telecom', base_url: 'https://c.example' },
    });
    expect(statSync(configuration).mode & 0o777).toBe(0o600);
    expect((await again.ask('PUT', '/api/v2/setup/admin', { token, body: ADMIN })).status).toBe(
      409,
    );
  });

  it('should show no secret of an address again, wherever it stands', async () => {
    const folder = newFolder();
    const brokers = 'ann:hunter6@one.example:9092,bob:hunter7@two.example:9092';
    const draft = {
      ...{ version: 1, done: ['platform', 'database', 'analytics', 'redis'] },
      configuration: {
        platform: 'standard',
        database_url: 'postgres://u:hunter2@db.example/x?sslmode=verify-full&password=hunter3',
        clickhouse_url: 'https://hunter4@ch.example/?password=hunter5&user=x',
        redis_url: 'rediss://:hunter8@redis.example/1#hunter9',
      },
    };
    writeFileSync(join(folder, 'setup.json'), JSON.stringify(draft));
    const again = await open(folder);
    const token = await again.unlock();
    const { text, body } = await again.ask('GET', '/api/v2/setup', { token });
    expect(text).not.toContain('hunter');
    const answers = body['answers'] as Record<string, string>;
    expect(answers['database_url']).toContain('sslmode=verify-full');
    expect(withoutSecrets(brokers)).toBe('***@one.example:9092,***@two.example:9092');
    const tried = await again.ask('POST', '/api/v2/setup/test', {
      ...{ token, body: { store: 'broker', url: 'ann:hunter6@one.example' } },
    });
    expect(tried).toMatchObject({ status: 422 });
    expect(tried.text).not.toContain('hunter');
  });

  it('should keep wrong codes for the audit log, one row a place, and no more than so many', async () => {
    const { ask, folder, stop } = await open();
    for (let at = 0; at < 3; at += 1) {
      await ask('POST', '/api/v2/setup/unlock', { body: { code: `AAAA-AAAA-AAA${at}` } });
    }
    await stop();
    const files = setupFiles(folder);
    expect(statSync(join(folder, 'setup-refused.json')).mode & 0o777).toBe(0o600);
    const kept = await files.readRefusals();
    expect(kept).toMatchObject([
      {
        ...{ actor: 'anonymous', action: 'credential.refused', target: 'setup_code' },
        ...{ from: '127.0.0.1', detail: { count: 3 } },
      },
    ]);
    const [row] = kept;
    if (row === undefined) throw new Error('no row');
    for (let at = 0; at < 4; at += 1) {
      await files.addRefusals(Array.from({ length: SETUP_REFUSALS_KEPT_MAX / 2 }, () => row));
    }
    const many = await files.readRefusals();
    expect(many).toHaveLength(SETUP_REFUSALS_KEPT_MAX);
    const count = many.reduce((sum, { detail }) => sum + Number(detail['count']), 0);
    expect(count).toBe(3 * (1 + 2 * SETUP_REFUSALS_KEPT_MAX));

    // The start that follows writes them where they belong, once.
    const relational = createMemoryRelational();
    const answers = setupFiles(folder);
    const deps = { file: null, answers, audit: relational.audit, logger: silentLogger };
    const start = () => runProvisioning({ ...deps, provision: {} as never });
    await start();
    await start();
    expect(await relational.audit.recent(10_000)).toHaveLength(SETUP_REFUSALS_KEPT_MAX);
    writeFileSync(join(folder, 'setup-refused.json'), '[{"atMs":');
    expect(await files.readRefusals()).toEqual([]);
  });

  it('should begin anew when what was kept cannot be understood', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'setup.json'), '{"version":1,"done":["admin"');
    const { ask, unlock } = await open(folder);
    const token = await unlock();
    expect((await ask('GET', '/api/v2/setup', { token })).body['state']).toBe('platform');
  });
});
