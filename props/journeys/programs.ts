// The two programs as a person starts them: own processes, own folders, a free loopback port. Everything a test starts
// here is stopped by its process id, and what it prints is kept for the failure message.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';

export const ROOT = join(import.meta.dirname, '..', '..');
const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const POLL_MS = 100;
const QUIET_TURNS = 5;
/** For a machine that is busy with other things: no wait here judges how fast it is. */
const WAIT_MS = 180_000;

export type Home = {
  readonly folder: string;
  readonly consoleDir: string;
  readonly sensorDir: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
};

/** A folder with a Console's and a Sensor's state, and the environment that points both programs at it. */
export async function makeHome(intervals: Readonly<Record<string, number>> = {}): Promise<Home> {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  const port = await freePort();
  const consoleDir = join(folder, 'console');
  const sensorDir = join(folder, 'sensor');
  // The database's own user must be able to reach its folder.
  for (const [path, mode] of [
    [folder, 0o755],
    [consoleDir, 0o711],
    [sensorDir, 0o700],
  ] as const) {
    mkdirSync(path, { recursive: true, mode });
  }
  const { chmodSync } = await import('node:fs');
  chmodSync(folder, 0o755);
  writeFileSync(join(consoleDir, 'console.yaml'), stringify({ intervals }), { mode: 0o600 });
  writeFileSync(join(sensorDir, 'sensor.yaml'), stringify({ intervals }), { mode: 0o600 });
  return {
    folder,
    consoleDir,
    sensorDir,
    port,
    env: {
      SERVICE_CONSOLE_DATA_DIR: consoleDir,
      SERVICE_SENSOR_STATE_DIR: sensorDir,
      SERVICE_CONSOLE_PORT: String(port),
      SERVICE_CONSOLE_BIND: '127.0.0.1',
      XDG_CONFIG_HOME: join(folder, 'config'),
      HOME: folder,
    },
  };
}

export type Program = {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Everything printed so far, both streams. */
  output(): string;
  stdout(): string;
  exited: Promise<number>;
  isRunning(): boolean;
  /** Resolves when the output matches; rejects with the output after the deadline or at exit. */
  prints(pattern: RegExp, withinMs?: number): Promise<string>;
  kill(signal: NodeJS.Signals): void;
};

/** Calls once the event loop has turned some times and the number stayed as it was: what was ready to be read is read. */
function afterQuietTurns(read: () => number, run: () => void, left = QUIET_TURNS): void {
  const before = read();
  setImmediate(() => {
    if (read() !== before) afterQuietTurns(read, run);
    else if (left > 0) afterQuietTurns(read, run, left - 1);
    else run();
  });
}

/** Starts a program of the checkout under the bundled Node; `path` is relative to the root. */
export function startProgram(
  path: string,
  args: readonly string[],
  options: {
    readonly env: Readonly<Record<string, string>>;
    readonly stdin?: string;
    readonly group?: boolean;
  },
): Program {
  return follow(spawn(NODE, [join(ROOT, path), ...args], spawnOptions(options)), options.stdin);
}

/** Starts any command in the checkout. */
export function startCommand(
  command: string,
  args: readonly string[],
  options: { readonly env: Readonly<Record<string, string>>; readonly group?: boolean },
): Program {
  return follow(spawn(command, args, spawnOptions(options)), undefined);
}

function spawnOptions(options: {
  readonly env: Readonly<Record<string, string>>;
  readonly group?: boolean;
}) {
  return {
    cwd: ROOT,
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'] as ['pipe', 'pipe', 'pipe'],
    detached: options.group === true,
  };
}

function follow(child: ChildProcess, stdin: string | undefined): Program {
  let all = '';
  let out = '';
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of waiting) check();
  };
  child.stdout?.on('data', (data: Buffer) => {
    out += data.toString();
    all += data.toString();
    wake();
  });
  child.stderr?.on('data', (data: Buffer) => {
    all += data.toString();
    wake();
  });
  if (stdin !== undefined) child.stdin?.end(stdin);
  const exited = new Promise<number>((resolve) => {
    child.on('exit', (code, signal) => {
      if (signal !== null) all += `[ended by ${signal}]\n`;
      const end = () => resolve(code ?? (signal === null ? 1 : 128));
      // What it printed last may still be in the pipe, which never closes where a child of it lives on.
      child.once('close', end);
      afterQuietTurns(() => all.length, end);
    });
  });
  void exited.then(wake);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    child,
    pid: child.pid ?? 0,
    output: () => all,
    stdout: () => out,
    exited,
    isRunning,
    prints: (pattern, withinMs = WAIT_MS) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => finish(new Error(`not printed in ${withinMs} ms: ${pattern}\n${all}`)),
          withinMs,
        );
        const finish = (outcome: Error | string) => {
          clearTimeout(timer);
          waiting.delete(check);
          if (typeof outcome === 'string') resolve(outcome);
          else reject(outcome);
        };
        const check = () => {
          const found = pattern.exec(all);
          if (found !== null) finish(found[0]);
          else if (!isRunning()) finish(new Error(`ended before printing ${pattern}\n${all}`));
        };
        waiting.add(check);
        check();
      }),
    kill: (signal) => void child.kill(signal),
  };
}

/** Resolves with the first value that is not null; rejects after the deadline with what was last seen. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | null> | T | null,
  withinMs = WAIT_MS,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  let lastError = '';
  for (;;) {
    try {
      const value = await probe();
      if (value !== null) return value;
    } catch (error) {
      lastError = String(error);
    }
    if (Date.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms ${lastError}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Processes whose command line or environment points into a folder. */
export function processesOf(folder: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const command = readOrEmpty(`/proc/${name}/cmdline`).replaceAll('\0', ' ');
      const environment = readOrEmpty(`/proc/${name}/environ`);
      const isZombie = /^\d+ \(.*\) Z/.test(readOrEmpty(`/proc/${name}/stat`));
      const mine = command.includes(folder) || environment.includes(folder);
      return mine && !isZombie ? [{ pid: Number(name), command }] : [];
    });
}

/** Kills whatever still runs out of a home, then removes it. */
export async function removeHome(home: Home): Promise<void> {
  for (const { pid } of processesOf(home.folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself meanwhile.
    }
  }
  await eventually('processes end', () => (processesOf(home.folder).length === 0 ? true : null));
  rmSync(home.folder, { recursive: true, force: true });
}

/** A loopback port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
