// The relational contracts on the oldest PostgreSQL that is supported, Debian's 15, as an outside database would be.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyMigrations } from '../../storage/migrate.ts';
import { migrationsContract } from './migrations.contract.ts';
import { openRealRelational } from './real-stores.ts';
import { relationalContracts } from './relational.contract.ts';
import { ssoPortsOn } from './sso-ports.ts';
import { ssoStoreContract } from './sso-store.contract.ts';

const START_MS = 60_000;
const POLL_MS = 50;
const PROGRAMS = '/usr/lib/postgresql/15/bin';
const user = userNamed('postgres');
const reasonNot =
  process.getuid?.() !== 0
    ? 'only root can become the user postgres'
    : !existsSync(join(PROGRAMS, 'initdb')) || user === null
      ? 'PostgreSQL 15 is not installed here'
      : null;
if (reasonNot !== null) console.info(`Debian's PostgreSQL is skipped: ${reasonNot}`);

function userNamed(name: string): { readonly uid: number; readonly gid: number } | null {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}

describe.skipIf(reasonNot !== null)("relational ports on Debian's PostgreSQL 15", () => {
  let folder = '';
  let server: ChildProcess;
  let control: Awaited<ReturnType<typeof openRealRelational>>;
  const setAway = (away: boolean) => control.setAway(away);
  const statements: string[] = [];
  // No analytics store runs here: what would be sent is recorded, and a failing statement fails.
  const stores = () => ({
    pool: control.relational.pool,
    analytics: async (statement: string) => {
      if (statement.includes('throwIf')) throw new Error('told to fail');
      statements.push(statement);
    },
  });

  beforeAll(async () => {
    if (user === null) return;
    folder = mkdtempSync(join(tmpdir(), 'debian-postgres-'));
    chownSync(folder, user.uid, user.gid);
    const data = join(folder, 'data');
    const as = { ...user, cwd: folder, env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } };
    const init = ['-D', data, '-U', 'console', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
    await promisify(execFile)(join(PROGRAMS, 'initdb'), init, as);
    const port = await freePort();
    const options = ['-h', '127.0.0.1', '-p', String(port), '-k', folder];
    server = spawn(join(PROGRAMS, 'postgres'), ['-D', data, ...options], {
      ...as,
      stdio: 'ignore',
    });
    const url = `postgres://console@127.0.0.1:${port}/postgres`;
    while (!(await answers(url))) {
      expect(server.exitCode).toBeNull();
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    control = await openRealRelational(url);
    expect(await applyMigrations(stores())).toMatchObject({ ok: true });
  }, START_MS);

  afterAll(async () => {
    await control?.close();
    if (server?.exitCode === null && server.kill('SIGINT')) await once(server, 'exit');
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
  }, START_MS);

  it('should be version 15', async () => {
    const { rows } = await control.relational.pool.query<{ server_version: string }>(
      'SHOW server_version',
    );
    expect(rows[0]?.server_version).toMatch(/^15\./);
    expect(statements.length).toBeGreaterThan(0);
  });

  relationalContracts({ port: () => control.relational, setAway });
  ssoStoreContract({ port: () => ssoPortsOn(control.relational), setAway });
  migrationsContract(stores);
});
