// A Console and a Sensor the way an operator joins them: quick start, a token, `enroll`, `run`, `status`. What runs on is
// started by its TypeScript entry, so the process id is the program's own and not its launcher's.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { api, contextOf, items } from './api.ts';
import { eventually, type Home, type Program, startProgram } from './programs.ts';

const CONSOLE = 'gateway/cli/service-console.ts';
const SENSOR = 'sensor/cli/service-sensor.js';
const SENSOR_ITSELF = 'sensor/cli/service-sensor.ts';
const STOP_WITHIN_MS = 30_000;

export type ListedSensor = {
  readonly sensor_id: string;
  readonly node_name: string;
  readonly trust_health: string;
  readonly trust_state: string;
  readonly because: readonly { readonly code: string }[];
  readonly states: { readonly stream: string; readonly engine: string } | null;
};
export type SensorStatus = {
  readonly summary: string;
  readonly is_running: boolean;
  readonly identity: {
    readonly sensor_id: string;
    readonly trust_state: string;
    readonly certificate_expires_at: string;
  } | null;
  readonly live: {
    readonly pid?: number;
    readonly state?: string;
    readonly spool?: { readonly depth: number };
    readonly engine?: { readonly state: string };
  } | null;
};
export type Ended = { readonly code: number; readonly stdout: string; readonly output: string };
type Env = Readonly<Record<string, string>>;

/** Why a story that needs root and tracefs cannot run here; null when it can. Its engine mounts tracefs by itself. */
export function missingForEngine(): string | null {
  if (process.getuid?.() !== 0) return 'not root';
  const known = readFileSync('/proc/filesystems', 'utf8');
  return /\btracefs\b/.test(known) ? null : 'no tracefs';
}

/** Prints why a story is skipped; answers whether it is. */
export function isSkipped(story: string, reason: string | null): boolean {
  if (reason !== null) process.stderr.write(`skipped: ${story}: ${reason}\n`);
  return reason !== null;
}

/** Quick start without a local Sensor; resolves when it serves. */
export async function startConsole(home: Home, env: Env = {}): Promise<Program> {
  const program = startProgram(CONSOLE, ['quickstart', '--no-sensor'], {
    env: { ...home.env, ...env },
  });
  await program.prints(/https:\/\/localhost:\d+/);
  return program;
}

/** Starts `service-sensor run`; a token given here travels on stdin. */
export function startSensor(
  home: Home,
  options: { readonly token?: string; readonly env?: Env } = {},
): Program {
  const { token } = options;
  return startProgram(
    SENSOR_ITSELF,
    ['run', ...addressOf(home), ...(token === undefined ? [] : ['--token-file', '-'])],
    {
      env: { ...home.env, ...options.env },
      ...(token === undefined ? {} : { stdin: `${token}\n` }),
    },
  );
}

/** Runs `service-sensor enroll` to its end. */
export function enroll(home: Home, token: string, env: Env = {}): Promise<Ended> {
  const program = startProgram(SENSOR, ['enroll', ...addressOf(home), '--token-file', '-'], {
    env: { ...home.env, ...env },
    stdin: `${token}\n`,
  });
  return endOf(program);
}

/** What `service-sensor status -o json` says. */
export async function status(home: Home): Promise<SensorStatus> {
  const ended = await endOf(startProgram(SENSOR, ['status', '-o', 'json'], { env: home.env }));
  try {
    return JSON.parse(ended.stdout);
  } catch {
    throw new Error(`status is not JSON: ${ended.output}`);
  }
}

/** Makes a token and answers its secret. */
export async function createToken(home: Home, ttlSeconds?: number): Promise<string> {
  return (await issueToken(home, ttlSeconds)).secret;
}

export async function issueToken(
  home: Home,
  ttlSeconds?: number,
): Promise<{ readonly token_id: string; readonly secret: string }> {
  const body = ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds };
  const answer = await api(home, 'POST', '/api/v2/enrollment-tokens', body);
  if (answer.status !== 201) throw new Error(`no token: ${JSON.stringify(answer)}`);
  return answer.body as { token_id: string; secret: string };
}

/** The only sensor, once its trust health and stream are as wanted. */
export function onlySensor(
  home: Home,
  is: (sensor: ListedSensor) => boolean,
  withinMs = 180_000,
): Promise<ListedSensor> {
  let last = 'none';
  return eventually(
    'the only sensor is as wanted',
    async () => {
      const all = await items<ListedSensor>(home, '/api/v2/sensors');
      last = JSON.stringify(all);
      const [only, ...others] = all;
      if (others.length > 0) throw new Error(`more than one sensor: ${last}`);
      return only !== undefined && is(only) ? only : null;
    },
    withinMs,
  ).catch((error: unknown) => {
    throw new Error(`${error}\n${last}`);
  });
}

/** Heard of, trusted, its stream open and its engine running, as well as it can here. */
export function isHealthy(sensor: ListedSensor): boolean {
  const { engine = '', stream } = sensor.states ?? {};
  const isWatching = engine === 'running' || engine === 'degraded';
  return sensor.trust_health === 'healthy' && stream === 'open' && isWatching;
}

export async function endOf(program: Program): Promise<Ended> {
  const code = await program.exited;
  // The streams may hold a last piece when the process is already gone.
  await new Promise((resolve) => {
    if (program.child.stdout?.closed && program.child.stderr?.closed) resolve(null);
    else program.child.once('close', resolve);
  });
  return { code, stdout: program.stdout(), output: program.output() };
}

/** Asks a program to stop and waits until it is gone; kills it when it does not listen. */
export async function stop(program: Program): Promise<number> {
  if (!program.isRunning()) return program.exited;
  program.kill('SIGTERM');
  const timer = setTimeout(() => program.kill('SIGKILL'), STOP_WITHIN_MS);
  const code = await program.exited;
  clearTimeout(timer);
  return code;
}

/** Ends a program without a word of warning. */
export async function kill(program: Program): Promise<void> {
  program.kill('SIGKILL');
  await program.exited;
}

function addressOf(home: Home): string[] {
  const { ca_pem } = contextOf(home);
  const fingerprint = new X509Certificate(ca_pem).fingerprint256.replaceAll(':', '').toLowerCase();
  return ['--url', `https://localhost:${home.port}`, '--ca-fingerprint', fingerprint];
}
