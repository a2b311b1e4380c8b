// The package of the Sensor in a real Debian 11, whose C library is of 2020: the line that enrols a node is pasted in its
// root, and the Sensor runs there until its Console has events of it. For `.ci/nightly`: it makes the root with debootstrap
// from Debian's packages and needs to be root. decision: D68
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { items } from '../journeys/api.ts';
import {
  eventually,
  makeHome,
  removeHome,
  startCommand,
  startProgram,
} from '../journeys/programs.ts';

const WITHIN_MS = 300_000;
const CONSOLE = 'gateway/cli/service-console.js';
const SENSOR = '/opt/service-sensor/bin/service-sensor';
const beganMs = performance.now();
const tell = (what: string) =>
  process.stdout.write(`${((performance.now() - beganMs) / 1_000).toFixed(1)} s: ${what}\n`);

const folder = mkdtempSync(join(tmpdir(), 'debian-11-'));
// One that was made before may be given: making one takes minutes.
const root = process.argv[2] ?? makeRoot(join(folder, 'root'));
// In namespaces of its own, so that nothing stays mounted or runs after it.
const within = (...command: readonly string[]) => [
  ...['--mount', '--pid', '--fork', '--kill-child=SIGTERM', '--propagation', 'private', 'sh', '-c'],
  'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"',
  ...[root, ...command],
];
const said = (...command: readonly string[]) =>
  execFileSync('unshare', within(...command), { encoding: 'utf8' }).trim();
tell(`Debian ${said('cat', '/etc/debian_version')}, ${said('ldd', '--version').split('\n')[0]}`);

const home = await makeHome();
const running = startProgram(CONSOLE, ['quickstart', '--no-sensor'], { env: home.env });
try {
  await running.prints(/Ctrl-C stops everything/, WITHIN_MS);
  const made = startProgram(CONSOLE, ['tokens', 'create', '-o', 'json'], { env: home.env });
  await made.exited;
  const { secret, enroll_command: line } = JSON.parse(made.stdout()) as Record<string, string>;
  await paste(`${line} --no-start`, secret ?? '');
  tell(`installed and enrolled: ${said(SENSOR, 'version')}`);
  const sensor = startCommand('unshare', within(SENSOR, 'run'), {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  });
  const only = await eventually(
    'a healthy sensor',
    async () => {
      const [one] = await items<{ sensor_id: string; trust_health: string }>(
        home,
        '/api/v2/sensors',
      );
      return one?.trust_health === 'healthy' ? one : null;
    },
    WITHIN_MS,
  ).catch((error: unknown) => {
    throw new Error(`${error}\n${sensor.output()}`);
  });
  tell('healthy');
  const path = `/api/v2/events?from=now-1h&sensor_id=${only.sensor_id}&limit=1`;
  const probe = async () => (await items(home, path))[0] ?? null;
  await eventually('an event', probe, WITHIN_MS);
  tell('its Console has an event of it');
  // What made the namespaces takes no signal while it waits for its child, which the Sensor is.
  process.kill(childOf(sensor.pid), 'SIGTERM');
  const code = await sensor.exited;
  if (code !== 0) throw new Error(`the Sensor ended with ${code}\n${sensor.output()}`);
  tell('ended when it was told to');
} finally {
  running.kill('SIGINT');
  await running.exited;
  await removeHome(home);
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write('the package runs in Debian 11\n');

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

function makeRoot(at: string): string {
  mkdirSync(at);
  const more = ['--variant=minbase', '--include=curl,ca-certificates,openssl'];
  execFileSync('debootstrap', [...more, 'bullseye', at], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return at;
}

/** As an operator pastes it, the token by standard input. Rejects with what it said. */
async function paste(line: string, token: string): Promise<void> {
  const child = spawn('unshare', within('sh', '-c', line), { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output += data.toString();
    });
  }
  child.stdin.end(token);
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`the line ended with ${code}:\n${output}`);
}
