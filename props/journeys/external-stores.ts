// Databases that a Console does not own: Debian's PostgreSQL as user postgres, and a ClickHouse in a folder of its own.
// Both can be stopped and started again where they were.
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createClickhouseLauncher } from '../../storage/embedded/clickhouse.ts';
import type { ClickhouseEndpoint, RunningStore } from '../../storage/embedded/store-launcher.ts';
import { eventually, freePort } from './programs.ts';
import { askPostgres } from './stored.ts';

const BINARIES = '/usr/lib/postgresql/15/bin';
const USER = 'postgres';
const START_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 10_000;

export type ExternalStore = {
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
};

/** Why there is no external PostgreSQL here; null when there is one. */
export function missingForPostgres(): string | null {
  if (process.getuid?.() !== 0) return 'not root';
  return existsSync(`${BINARIES}/postgres`) ? null : `no ${BINARIES}`;
}

/** Makes an external PostgreSQL in a folder below `folder` and starts it. */
export async function externalPostgres(folder: string): Promise<ExternalStore> {
  const home = join(folder, 'external-postgres');
  const data = join(home, 'data');
  const user = { uid: idOf('-u'), gid: idOf('-g') };
  mkdirSync(home, { mode: 0o700 });
  chownSync(home, user.uid, user.gid);
  const made = spawnSync(`${BINARIES}/initdb`, ['-D', data, '-U', USER, '--auth=trust'], {
    ...user,
    cwd: home,
  });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const port = await freePort();
  const url = `postgres://${USER}@127.0.0.1:${port}/postgres`;
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories='];
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((one) => ['-c', one])];
  let stop: () => Promise<void> = () => Promise.resolve();
  const store: ExternalStore = {
    url,
    async start() {
      const log = openSync(join(folder, 'external-postgres.log'), 'a');
      const child = spawn(`${BINARIES}/postgres`, args, {
        ...user,
        cwd: home,
        stdio: ['ignore', log, log],
      });
      closeSync(log);
      const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      stop = async () => {
        child.kill('SIGINT');
        await exited;
      };
      await eventually('PostgreSQL answers', () => askPostgres(url, 'SELECT 1'), START_WITHIN_MS);
    },
    stop: () => stop(),
  };
  await store.start();
  return store;
}

/** Makes an external ClickHouse below `folder` and starts it. */
export async function externalClickhouse(
  folder: string,
): Promise<ExternalStore & { readonly access: ClickhouseEndpoint }> {
  const dataDir = join(folder, 'external-clickhouse');
  mkdirSync(dataDir, { mode: 0o700 });
  const quiet = () => undefined;
  const launcher = createClickhouseLauncher({
    dataDir,
    logger: { info: quiet, warn: quiet, error: quiet },
  });
  const start = (): Promise<RunningStore<ClickhouseEndpoint>> =>
    launcher.start(AbortSignal.timeout(START_WITHIN_MS));
  let store = await start();
  const access = store.endpoint;
  const url = new URL(access.url);
  url.username = access.username;
  url.password = access.password;
  return {
    url: url.toString(),
    access,
    async start() {
      store = await start();
      if (store.endpoint.url !== access.url) throw new Error('ClickHouse moved to another port');
    },
    stop: () => store.stop(STOP_WITHIN_MS),
  };
}

function idOf(flag: '-u' | '-g'): number {
  return Number(spawnSync('id', [flag, USER]).stdout.toString());
}
