// Starts the embedded ClickHouse as its own process, or takes over the one that a killed Console left behind. Who may be
// taken over or stopped is decided by process id, start time and command line together, never by the id alone.
// decision: D7
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { STORE_PROBE_TIMEOUT_MS } from '../../machines/limits.ts';
import type { ChdbServerConfig } from './chdb-server.ts';
import {
  endProcess,
  isSameProcess,
  keptAwake,
  type ProcessIdentity,
  processIdentity,
  whenGone,
} from './process-identity.ts';
import type {
  ClickhouseEndpoint,
  EmbeddedLogger,
  RunningStore,
  StoreLauncher,
} from './store-launcher.ts';

const SERVER = join(import.meta.dirname, 'chdb-server.ts');
const POLL_MS = 50;
/** chDB answers from its own threads; each lane needs some of them, and compression too. */
const THREADS = '16';

/** The launcher for one data directory. */
export function createClickhouseLauncher(options: {
  readonly dataDir: string;
  readonly logger: EmbeddedLogger;
}): StoreLauncher<ClickhouseEndpoint> {
  const keys = join(options.dataDir, 'embedded');
  const configFile = join(keys, 'clickhouse.json');
  const ownerFile = join(keys, 'clickhouse.owner.json');

  async function start(signal: AbortSignal): Promise<RunningStore<ClickhouseEndpoint>> {
    mkdirSync(keys, { recursive: true, mode: 0o700 });
    const folder = join(options.dataDir, 'clickhouse');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const known = readJson<ChdbServerConfig>(configFile);
    const left = readJson<ProcessIdentity>(ownerFile);
    if (known !== null && left !== null && isSameProcess(left, SERVER)) {
      if (await answers(known)) return running(known, left.pid, true, whenGone(left));
      options.logger.warn(
        { pid: left.pid },
        'a left-over ClickHouse does not answer and is stopped',
      );
      await endProcess(left, 'SIGKILL');
    }
    const config = { ...(known ?? newConfig(folder)), folder, port: await portFor(known?.port) };
    writePrivate(configFile, config);
    return launch(config, signal);
  }

  async function launch(
    config: ChdbServerConfig,
    signal: AbortSignal,
  ): Promise<RunningStore<ClickhouseEndpoint>> {
    const log = openSync(join(config.folder, '..', 'clickhouse.log'), 'w', 0o600);
    const child = spawn(process.execPath, [SERVER, configFile], {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, UV_THREADPOOL_SIZE: THREADS },
    });
    closeSync(log);
    child.unref();
    const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
      child.once('exit', (code, by) => resolve({ code, signal: by }));
      child.once('error', () => resolve({ code: 1, signal: null }));
    });
    const pid = child.pid ?? 0;
    const identity = processIdentity(pid);
    if (identity !== null) writePrivate(ownerFile, identity);
    let isGone = false;
    void exited.then(() => {
      isGone = true;
    });
    while (!(await answers(config))) {
      if (isGone || signal.aborted) {
        child.kill('SIGKILL');
        throw new Error(
          `the embedded ClickHouse did not start: ${tailOf(join(config.folder, '..', 'clickhouse.log'))}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return running(config, pid, false, exited);
  }

  return { name: 'clickhouse', start };
}

function running(
  config: ChdbServerConfig,
  pid: number,
  adopted: boolean,
  exited: RunningStore<ClickhouseEndpoint>['exited'],
): RunningStore<ClickhouseEndpoint> {
  return {
    endpoint: {
      url: `http://127.0.0.1:${config.port}`,
      username: config.username,
      password: config.password,
    },
    pid,
    adopted,
    exited,
    probe: () => answers(config),
    async stop(deadlineMs) {
      const identity = processIdentity(pid);
      if (identity === null) return;
      const timer = setTimeout(() => void endProcess(identity, 'SIGKILL'), deadlineMs);
      await endProcess(identity, 'SIGTERM');
      await keptAwake(exited);
      clearTimeout(timer);
    },
  };
}

// A query with the password: only our own server can answer it.
function answers(config: ChdbServerConfig): Promise<boolean> {
  return new Promise((resolve) => {
    const call = request(
      {
        host: '127.0.0.1',
        port: config.port,
        path: '/?query=SELECT%201',
        timeout: STORE_PROBE_TIMEOUT_MS,
        agent: false,
        headers: { 'x-clickhouse-user': config.username, 'x-clickhouse-key': config.password },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(false));
    call.end();
  });
}

function newConfig(folder: string): ChdbServerConfig {
  return { folder, port: 0, username: 'service', password: randomBytes(24).toString('base64url') };
}

// The port it always had, as long as nobody else took it.
async function portFor(wanted: number | undefined): Promise<number> {
  return (wanted === undefined ? null : await tryPort(wanted)) ?? (await tryPort(0)) ?? 0;
}

function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(null));
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address();
      const bound = typeof address === 'object' && address !== null ? address.port : null;
      probe.close(() => resolve(bound));
    });
  });
}

function readJson<T>(file: string): T | null {
  try {
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : null;
  } catch {
    return null;
  }
}

function writePrivate(file: string, value: unknown): void {
  writeFileSync(`${file}.tmp`, JSON.stringify(value), { mode: 0o600 });
  chmodSync(`${file}.tmp`, 0o600);
  renameSync(`${file}.tmp`, file);
}

function tailOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8').slice(-500).trim() : 'it said nothing';
}
