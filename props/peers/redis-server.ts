// Debian's Redis as a process of its own, on a free port of 127.0.0.1, that a test may freeze, end and start again.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const START_MS = 10_000;
const POLL_MS = 20;

export type RedisServer = {
  readonly url: string;
  readonly port: number;
  /** SIGSTOP: the connection stays, nothing answers. */
  freeze(): void;
  thaw(): void;
  /** SIGKILL: every connection is reset. */
  kill(): Promise<void>;
  /** Starts a new, empty one on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Why it cannot be started here; null when it can. */
export function whyNoRedis(): string | null {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'redis-server is not installed here';
  }
}

/** Starts an empty one that writes nothing to disk. */
export async function startRedis(): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  const port = await freePort();
  let child: ChildProcess | null = null;
  let ended: Promise<unknown> = Promise.resolve();

  async function start(): Promise<void> {
    const options = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder];
    const started = spawn('redis-server', ['--port', String(port), ...options], {
      stdio: 'ignore',
    });
    child = started;
    ended = once(started, 'exit');
    await answering(port);
  }
  async function kill(): Promise<void> {
    child?.kill('SIGKILL');
    await ended;
    child = null;
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    kill,
    restart: start,
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answering(port: number): Promise<void> {
  for (const endMs = performance.now() + START_MS; performance.now() < endMs; ) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error('redis-server did not answer');
}
