import { fork } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { createPostgresLauncher } from './postgres.ts';
import { superviseStore } from './store-process.actor.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const root = mkdtempSync(join(tmpdir(), 'postgres-'));
chmodSync(root, 0o755);
const dataDir = join(root, 'console');
const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('skipped: refusals of folders, which need root to be made\n');
const clock = {
  setTimeout: (run: (...args: unknown[]) => void, delayMs: number) => setTimeout(run, delayMs),
  clearTimeout: (id: NodeJS.Timeout) => clearTimeout(id),
};
const started = new Set<{ stop(deadlineMs: number): Promise<void> }>();

async function begin(folder = dataDir) {
  const launcher = createPostgresLauncher({ dataDir: folder, logger: quiet });
  const store = await launcher.start(new AbortController().signal);
  started.add(store);
  return store;
}

afterAll(async () => {
  for (const store of started) await store.stop(5_000);
  rmSync(root, { recursive: true, force: true });
});

describe('embedded PostgreSQL', () => {
  it('should start on a fresh folder with a password that only its owner can read', async () => {
    const store = await begin();
    await rows(store.endpoint.url, 'CREATE TABLE kept AS SELECT 7 AS id');
    const password = new URL(store.endpoint.url).password;
    expect(password.length).toBeGreaterThanOrEqual(32);
    expect(readFileSync(`/proc/${store.pid}/cmdline`, 'utf8')).not.toContain(password);
    expect(statSync(join(dataDir, 'embedded')).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, 'embedded', 'postgres.json')).mode & 0o777).toBe(0o600);
    const wrong = store.endpoint.url.replace(password, 'wrong');
    await expect(rows(wrong, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    expect(await store.probe()).toBe(true);
    await store.stop(5_000);
    expect(await store.probe()).toBe(false);
  });

  it('should keep its data and its port across a stop and a start', async () => {
    const first = await begin();
    await first.stop(5_000);
    const second = await begin();
    expect(second).toMatchObject({ adopted: false, endpoint: first.endpoint });
    expect(await rows(second.endpoint.url, 'SELECT id FROM kept')).toEqual([{ id: 7 }]);
    expect(await rows(second.endpoint.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
    await second.stop(5_000);
  });

  it('should be started again on its port with its data when it is killed', async () => {
    const launcher = createPostgresLauncher({ dataDir, logger: quiet });
    const store = superviseStore({ launcher, clock, logger: quiet, now: Date.now });
    const endpoint = await store.ready();
    const pid = store.pid() ?? 0;
    const restarted = new Promise<void>((done) => {
      store.actor.subscribe((snapshot) => {
        if (snapshot.hasTag('usable') && snapshot.context.restartsAtMs.length === 1) done();
      });
    });
    process.kill(pid, 'SIGKILL');
    await restarted;
    expect(store.pid()).not.toBe(pid);
    expect(store.current()).toEqual(endpoint);
    expect(await rows(endpoint.url, 'SELECT id FROM kept')).toEqual([{ id: 7 }]);
    await store.stop();
    expect([store.state(), store.pid(), store.current()]).toEqual(['stopped', null, null]);
  });

  it('should take over the server that a killed Console left behind', async () => {
    const script = join(root, 'console.mts');
    writeFileSync(
      script,
      `import { createPostgresLauncher } from ${JSON.stringify(join(import.meta.dirname, 'postgres.ts'))};
const logger = { info() {}, warn() {}, error() {} };
const launcher = createPostgresLauncher({ dataDir: ${JSON.stringify(dataDir)}, logger });
const store = await launcher.start(new AbortController().signal);
process.send(store.pid);`,
    );
    const child = fork(script, { execArgv: [] });
    const exited = new Promise((done) => child.once('exit', done));
    const pid = await new Promise((done) => child.once('message', done));
    child.kill('SIGKILL');
    await exited;
    const store = await begin();
    expect(store).toMatchObject({ pid, adopted: true });
    expect(await rows(store.endpoint.url, 'SELECT id FROM kept')).toEqual([{ id: 7 }]);
    await store.stop(5_000);
    await store.exited;
  });

  it('should refuse a start whose signal is already given up, leaving nothing running', async () => {
    const launcher = createPostgresLauncher({ dataDir, logger: quiet });
    await expect(launcher.start(AbortSignal.abort())).rejects.toThrow('given up');
    expect(() => statSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'))).toThrow();
  });

  it.skipIf(!isRoot)('should refuse a folder its user cannot enter, with the reason', async () => {
    const closed = join(root, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    await expect(begin(join(closed, 'console'))).rejects.toThrow(`${closed} cannot be entered`);
  });

  it.skipIf(!isRoot)('should refuse a folder of somebody else, with the reason', async () => {
    const home = join(root, 'foreign', 'postgres');
    mkdirSync(home, { recursive: true });
    await expect(begin(join(root, 'foreign'))).rejects.toThrow(`${home} belongs to uid 0`);
  });
});

async function rows(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
