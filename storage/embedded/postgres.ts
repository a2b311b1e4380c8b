// The embedded PostgreSQL: a real server on loopback in its own process group, fsync on, kept alive by the supervisor.
// It outlives a Console that is killed, and the next Console takes it over. decision: D7
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { initialise, prepareFolder } from './postgres-folder.ts';
import { clearFolder, findPostmaster, killPostmaster } from './postgres-orphan.ts';
import { answers, endpointOf, ensureDatabase, type PostgresSecret } from './postgres-query.ts';
import { type RunAs, reachableRuntime, runAsUser } from './postgres-runtime.ts';
import { freePort, readJson, writePrivate } from './private-file.ts';
import {
  isSameProcess,
  keptAwake,
  type ProcessIdentity,
  processIdentity,
  whenGone,
} from './process-identity.ts';
import type {
  EmbeddedLogger,
  PostgresEndpoint,
  RunningStore,
  StoreExit,
  StoreLauncher,
} from './store-launcher.ts';

const POLL_MS = 50;
const LOG_MAX_BYTES = 4 * 1_048_576;
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  max_connections: '60',
  shared_buffers: '64MB',
  huge_pages: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
} as const;

/** The launcher for one data directory. */
export function createPostgresLauncher(options: {
  readonly dataDir: string;
  readonly logger: EmbeddedLogger;
}): StoreLauncher<PostgresEndpoint> {
  const secretFile = join(resolve(options.dataDir), 'embedded', 'postgres.json');
  return {
    name: 'postgres',
    async start(signal) {
      const user = runAsUser();
      const home = realpathSync(prepareFolder(resolve(options.dataDir), user));
      const [data, known] = [join(home, 'data'), loadSecret(secretFile)];
      if (known === null && existsSync(data))
        throw new Error(
          `${secretFile} is missing or broken, but ${data} was made with its password`,
        );
      const orphan = findPostmaster(data);
      if (orphan !== null && known !== null) {
        if (await answers(known)) {
          await ensureDatabase(known);
          return running({ home, secret: known, identity: orphan, exited: whenGone(orphan) }, true);
        }
        options.logger.warn({ pid: orphan.pid }, 'a left-over PostgreSQL does not answer and ends');
        await killPostmaster(data, orphan);
      }
      await clearFolder(data);
      const runtime = reachableRuntime(resolve(options.dataDir), user);
      const password = known?.password ?? randomBytes(24).toString('hex');
      const secret = { port: await freePort(known?.port), password };
      if (known !== null && known.port !== secret.port)
        options.logger.warn({ port: secret.port }, 'the port of PostgreSQL was taken; it moves');
      writePrivate(secretFile, JSON.stringify(secret));
      if (!existsSync(data)) await initialise({ runtime, home, password, user, signal });
      return launch({ runtime, home, secret, user, signal });
    },
  };
}

async function launch(plan: {
  readonly runtime: string;
  readonly home: string;
  readonly secret: PostgresSecret;
  readonly user: RunAs | null;
  readonly signal: AbortSignal;
}): Promise<RunningStore<PostgresEndpoint>> {
  const { home, secret, signal } = plan;
  if (signal.aborted) throw new Error('PostgreSQL did not start: the start was given up');
  const log = openLog(home);
  const settings = Object.entries({ ...SETTINGS, port: String(secret.port) });
  const child = spawn(
    join(plan.runtime, 'bin/postgres'),
    ['-D', join(home, 'data'), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    {
      ...plan.user,
      cwd: '/',
      detached: true,
      env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
      stdio: ['ignore', log, log],
    },
  );
  closeSync(log);
  child.unref();
  let gone: StoreExit | null = null;
  const exited = new Promise<StoreExit>((done) => {
    child.once('exit', (code, by) => done({ code, signal: by }));
    child.once('error', () => done({ code: null, signal: null }));
  });
  void exited.then((exit) => {
    gone = exit;
  });
  const identity = child.pid === undefined ? null : processIdentity(child.pid);
  try {
    while (!(await answers(secret))) {
      if (gone !== null || identity === null) throw new Error(`it ended: ${lastWords(home)}`);
      if (signal.aborted) throw new Error('the start was given up');
      await sleep(POLL_MS);
    }
    if (gone !== null || identity === null) throw new Error(`it ended: ${lastWords(home)}`);
    await ensureDatabase(secret);
    return running({ home, secret, identity, exited }, false);
  } catch (error) {
    if (identity !== null) await killPostmaster(join(home, 'data'), identity);
    throw new Error(`PostgreSQL did not start: ${(error as Error).message}`);
  }
}

function running(
  parts: {
    readonly home: string;
    readonly secret: PostgresSecret;
    readonly identity: ProcessIdentity;
    readonly exited: Promise<StoreExit>;
  },
  adopted: boolean,
): RunningStore<PostgresEndpoint> {
  const { home, secret, identity, exited } = parts;
  return {
    endpoint: endpointOf(secret),
    pid: identity.pid,
    adopted,
    exited,
    probe() {
      boundLog(home);
      return answers(secret);
    },
    async stop(deadlineMs) {
      const startedMs = performance.now();
      // SIGINT is PostgreSQL's fast shutdown: sessions are ended, everything is written.
      if (isSameProcess(identity)) process.kill(identity.pid, 'SIGINT');
      while (isSameProcess(identity)) {
        if (performance.now() - startedMs > deadlineMs)
          await killPostmaster(join(home, 'data'), identity);
        else await sleep(POLL_MS);
      }
      await keptAwake(exited);
    },
  };
}

// The folder is the server user's, so a link there is not followed.
function openLog(home: string): number {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  boundLog(home);
  return openSync(logOf(home), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
}

function boundLog(home: string): void {
  const size = statSync(logOf(home), { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_MAX_BYTES) truncateSync(logOf(home));
}

function lastWords(home: string): string {
  return readFileSync(logOf(home), 'utf8').trim().slice(-500);
}

function logOf(home: string): string {
  return join(home, 'server.log');
}

function loadSecret(file: string): PostgresSecret | null {
  const stored = readJson(file);
  const [port, password] = [stored?.['port'], stored?.['password']];
  return typeof port === 'number' && typeof password === 'string' ? { port, password } : null;
}
