// Both programs in a network namespace that has nothing but loopback: everything works, nobody tries another address, and
// the Console opens no connection but those to its own stores.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { endOf, isSkipped, type ListedSensor, missingForEngine } from './fleet.ts';
import {
  eventually,
  type Home,
  makeHome,
  type Program,
  processesOf,
  ROOT,
  removeHome,
  startCommand,
} from './programs.ts';
import { type Connection, connectionsAround, connectionsOf, isLoopback } from './sockets.ts';

const NODE = join(ROOT, 'node_modules', '.bin', 'node');
const CONSOLE = join(ROOT, 'gateway', 'cli', 'service-console.ts');
const WATCH_MS = 5_000;
const TIMEOUT_MS = 900_000;

let home: Home | null = null;
afterEach(async () => {
  if (home !== null) await removeHome(home);
});

const skip = isSkipped('loopback only', missingForEngine());

it.skipIf(skip)('should need nothing but loopback', { timeout: TIMEOUT_MS }, async () => {
  home = await makeHome({ HEARTBEAT_INTERVAL_MS: 5_000, HEARTBEAT_TIMEOUT_MS: 5_000 });
  const at = home;
  const inside = `ip link set lo up && exec ${NODE} ${CONSOLE} quickstart`;
  const program = startCommand('unshare', ['--net', 'sh', '-c', inside], { env: at.env });
  await program.prints(/https:\/\/localhost:\d+/);
  // `unshare` and `sh` replace themselves, so this process id is the Console's.
  const gateway = program.pid;
  expect(readFileSync(`/proc/${gateway}/cmdline`, 'utf8')).toContain('service-console.ts');
  expect(interfacesOf(gateway)).toEqual(['lo']);
  const canary = await attemptsOf(at, program);

  const seen: Connection[] = [];
  const sensors = await eventually(
    'one healthy sensor',
    async () => {
      seen.push(...connectionsAround(gateway));
      const all = await ask<ListedSensor>(at, program, ['sensors', 'list']);
      return all[0]?.trust_health === 'healthy' && all[0].states?.stream === 'open' ? all : null;
    },
    60_000,
  );
  const events = await eventually('events flow', async () => {
    const all = await ask<{ sensor_id: string }>(at, program, [
      'events',
      'search',
      '--since',
      '5m',
    ]);
    return all.length > 0 ? all : null;
  });
  const until = Date.now() + WATCH_MS;
  await eventually('a while passes', () => {
    seen.push(...connectionsAround(gateway));
    return Date.now() > until ? true : null;
  });

  expect(sensors).toHaveLength(1);
  expect(events[0]?.sensor_id).toBe(sensors[0]?.sensor_id);
  const strangers = seen.filter(
    ({ local, remote }) => !isLoopback(local.address) || !isLoopback(remote.address),
  );
  expect(seen.length).toBeGreaterThan(0);
  expect(strangers).toEqual([]);
  // The kernel counts every packet and connect that found no way out; the canary proves that it would.
  expect(canary.before).toBe(0);
  expect(canary.after).toBeGreaterThan(0);
  expect(noRoutes(gateway)).toBe(canary.after);

  const stores = storePorts(at);
  const opened = connectionsOf(gateway).filter(
    ({ isEstablished, local }) => isEstablished && local.port !== at.port,
  );
  const sensorPids = processesOf(at.folder).filter(({ command }) =>
    command.includes('service-sensor'),
  );
  expect(opened.length).toBeGreaterThan(0);
  expect(opened.filter(({ remote }) => !stores.includes(remote.port))).toEqual([]);
  expect(sensorPids.length).toBeGreaterThan(0);
  program.kill('SIGTERM');
  expect((await endOf(program)).code).toBe(0);
});

/** What a command prints as JSON, run inside the namespace. */
async function ask<T>(at: Home, program: Program, command: readonly string[]): Promise<T[]> {
  const ended = await endOf(enter(at, program, [NODE, CONSOLE, ...command, '-o', 'json']));
  if (ended.code !== 0) throw new Error(ended.output);
  return JSON.parse(ended.stdout) as T[];
}

function enter(at: Home, program: Program, command: readonly string[]): Program {
  return startCommand('nsenter', ['--target', String(program.pid), '--net', ...command], {
    env: at.env,
  });
}

/** One deliberate attempt to leave, with the counter before and after it. */
async function attemptsOf(at: Home, program: Program) {
  const before = noRoutes(program.pid);
  const script = `require('node:net').connect(80, '192.0.2.1').on('error', () => {})`;
  await endOf(enter(at, program, [NODE, '-e', script]));
  return { before, after: noRoutes(program.pid) };
}

/** Attempts to leave that the namespace of a process has counted, IPv4 and IPv6. */
function noRoutes(pid: number): number {
  const [names = '', values = ''] = readFileSync(`/proc/${pid}/net/snmp`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Ip:'));
  const four = Number(values.split(' ')[names.split(' ').indexOf('OutNoRoutes')]);
  const six = /^Ip6OutNoRoutes\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/net/snmp6`, 'utf8'));
  return four + Number(six?.[1] ?? 0);
}

function interfacesOf(pid: number): string[] {
  const lines = readFileSync(`/proc/${pid}/net/dev`, 'utf8').trim().split('\n').slice(2);
  return lines.map((line) => line.split(':')[0]?.trim() ?? '');
}

function storePorts(at: Home): number[] {
  return ['postgres.json', 'clickhouse.json'].map(
    (name) =>
      JSON.parse(readFileSync(join(at.consoleDir, 'embedded', name), 'utf8')).port as number,
  );
}
