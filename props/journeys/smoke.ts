// `npm start` as a newcomer runs it: within the promised time this machine's own processes are visible, Ctrl-C leaves
// nothing behind, and a second start finds the same sensor and the same events; the administrator of the first start can
// log in. An engine that sees less than all says so at the terminal and is counted at the Console. Exits 0 when all held.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { api, items } from './api.ts';
import { missingForEbpf } from './ebpf.ts';
import {
  eventually,
  type Home,
  makeHome,
  type Program,
  processesOf,
  removeHome,
  startCommand,
  startProgram,
} from './programs.ts';

const START_WITHIN_MS = 300_000;
const SEEN_WITHIN_MS = 2_000;
const STOP_WITHIN_MS = 120_000;
const SHORT_PROGRAMS = 60;

type ListedSensor = {
  sensor_id: string;
  trust_health: string;
  states: { engine: string };
  because: { code: string; facts: { missing_hooks?: { hook: string }[] } }[];
};
type ListedEvent = {
  event_id: string;
  event_kind: string;
  process?: { binary: string; arguments?: string };
};
const isRoot = process.getuid?.() === 0;
/** Whether the engine here is to see all; else it polls. */
const isWhole = isRoot && missingForEbpf() === null;
let runs = 0;

const home = await makeHome();
try {
  const first = await run(home);
  const second = await run(home, first);
  assert.equal(second.sensorId, first.sensorId, 'the second start has another sensor');
  process.stderr.write('smoke: every check held\n');
} finally {
  await removeHome(home);
}

async function run(
  at: Home,
  before?: { eventId: string; binary: string },
): Promise<{ sensorId: string; eventId: string; binary: string }> {
  const began = Date.now();
  const program = startCommand('npm', ['start'], { env: at.env, group: true });
  await program.prints(/https:\/\/localhost:\d+/, START_WITHIN_MS);
  await checkAdmin(at, program, before === undefined);
  const sensor = await eventually('one healthy sensor with a running engine', async () => {
    const [only, ...others] = await items<ListedSensor>(at, '/api/v2/sensors');
    assert.equal(others.length, 0);
    // What ran before the engine watches is not seen, so its own word is waited for.
    const isWatching = only?.states.engine === (isWhole ? 'running' : 'degraded');
    return only?.trust_health === 'healthy' && isWatching ? only : null;
  }).catch((error: unknown) => assert.fail(`${error}\n${program.output()}`));
  process.stderr.write(`smoke: healthy after ${Date.now() - began} ms\n`);
  if (before !== undefined) {
    // On a busy machine the newest are all of a moment ago.
    const query = new URLSearchParams({ from: 'now-1h', limit: '500', binary: before.binary });
    const found = await items<ListedEvent>(at, `/api/v2/events?${query}`);
    assert.ok(
      found.some(({ event_id }) => event_id === before.eventId),
      'an event of the first run is gone',
    );
  }
  const event = await seeOwnProcess(at);
  await checkList(at, sensor.sensor_id);
  await checkSight(at, program, sensor);
  await stop(at, program);
  const binary = event.process?.binary ?? '';
  return { sensorId: sensor.sensor_id, eventId: event.event_id, binary };
}

// The first start tells the administrator's password, once; whoever read it can log in.
async function checkAdmin(at: Home, program: Program, isFirst: boolean): Promise<void> {
  const banner = await program.prints(/Ctrl-C stops everything/).then(program.output);
  const email = /Admin +(\S+@\S+)/.exec(banner)?.[1] ?? '';
  const password = /Password +(\S+) \(shown this once\)/.exec(banner)?.[1];
  const fingerprint = /CA SHA-256 +([0-9a-f]{64})/.exec(banner)?.[1] ?? '';
  assert.notEqual(email, '', banner);
  assert.equal(password !== undefined, isFirst, `the password of the administrator\n${banner}`);
  if (password === undefined) return;
  const env = { ...at.env, XDG_CONFIG_HOME: join(at.folder, 'person') };
  const url = `https://localhost:${at.port}`;
  const login = startProgram(
    'gateway/cli/service-console.js',
    ['login', '--url', url, '--email', email, '--ca-fingerprint', fingerprint],
    // The password of the terminal is good for setting another.
    { env, stdin: `${password}\na password of one's own\n` },
  );
  assert.equal(await login.exited, 0, login.output());
  const who = startProgram('gateway/cli/service-console.js', ['whoami'], { env });
  assert.equal(await who.exited, 0, who.output());
  assert.match(who.stdout(), new RegExp(`^WHO +${email}$`, 'm'));
}

// As root a process of a few milliseconds is seen; an ordinary user polls, so the process lives longer.
async function seeOwnProcess(at: Home): Promise<ListedEvent> {
  const tail = startProgram(
    'gateway/cli/service-console.js',
    ['events', 'tail', '-o', 'json', '--limit', '1'],
    { env: at.env },
  );
  // It follows once it has shown what was there.
  await tail.prints(/event_id/);
  runs += 1;
  const mark = isRoot ? `id-${process.pid}-${runs}` : `5.${process.pid}${runs}`;
  const argv = isRoot ? ['/bin/sh', '-c', ownCopyOfId(at, mark)] : ['sleep', mark];
  const started = Date.now();
  spawn(argv[0] ?? '', argv.slice(1), { stdio: 'ignore' });
  const event = await eventually('the process in GET /api/v2/events', async () => {
    const path = '/api/v2/events?from=now-1m&limit=200&event_kind=process_exec';
    const found = await items<ListedEvent>(at, path);
    return found.find(({ process: one }) => isMarked(one, mark)) ?? null;
  });
  const seenMs = Date.now() - started;
  await tail.prints(new RegExp(mark), SEEN_WITHIN_MS);
  tail.kill('SIGTERM');
  process.stderr.write(`smoke: the process was seen after ${seenMs} ms\n`);
  assert.ok(seenMs <= SEEN_WITHIN_MS, `seen only after ${seenMs} ms`);
  return event;
}

// The kernel tells a binary's path however short its life was; its arguments may be gone before anybody reads them.
function ownCopyOfId(at: Home, mark: string): string {
  const path = join(at.folder, mark);
  copyFileSync('/usr/bin/id', path);
  return path;
}

function isMarked(one: ListedEvent['process'], mark: string): boolean {
  return one !== undefined && `${one.binary} ${one.arguments ?? ''}`.includes(mark);
}

async function checkList(at: Home, sensorId: string): Promise<void> {
  const list = startProgram('gateway/cli/service-console.js', ['sensors', 'list'], { env: at.env });
  assert.equal(await list.exited, 0, list.output());
  assert.match(list.stdout(), /healthy/);
  const names = startProgram('gateway/cli/service-console.js', ['sensors', 'list', '-o', 'json'], {
    env: at.env,
  });
  assert.equal(await names.exited, 0, names.output());
  assert.ok(names.stdout().includes(sensorId));
}

// Whoever started it reads what its engine misses without asking, and the Console counts it; of an engine that sees all
// nothing is said, although it was heard often.
async function checkSight(at: Home, program: Program, sensor: ListedSensor): Promise<void> {
  if (isWhole) {
    assert.deepEqual(sensor.because, []);
    assert.doesNotMatch(program.output(), /! (The engine|No engine) /);
    return;
  }
  await program.prints(/sensors coverage/);
  const said = program.output();
  const told = said.slice(said.indexOf('! The engine')).replaceAll(/\s+/g, ' ');
  assert.match(
    told,
    /^! The engine on this machine polls \/proc and misses short programs: /,
    said,
  );
  if (!isRoot) assert.match(told, /: run as root for the eBPF engine\./);
  // A start before this one may have been heard last.
  await eventually('the reason names what is missing', async () => {
    const [{ because } = sensor] = await items<ListedSensor>(at, '/api/v2/sensors');
    const hooks = because.flatMap(({ code, facts }) =>
      code === 'engine_degraded' ? (facts.missing_hooks ?? []) : [],
    );
    return hooks.some(({ hook }) => hook === 'sched_process_exec') ? true : null;
  });
  for (let one = 0; one < SHORT_PROGRAMS; one += 1) spawnSync('/bin/true');
  const { lost, coverage } = await eventually(
    'the short programs are counted as lost',
    async () => {
      const answer = await api(at, 'GET', `/api/v2/sensors/${sensor.sensor_id}/coverage`);
      const counted = answer.body as { lost: number; coverage: number };
      return counted.lost >= SHORT_PROGRAMS / 2 ? counted : null;
    },
  );
  assert.ok(coverage < 1, `coverage ${coverage}`);
  // What it names as commands answers, once there is something to answer.
  for (const [, words = ''] of said.matchAll(/^ {4}\S.*(sensors (?:get \S+|coverage))$/gm)) {
    const args = words.split(' ');
    const named = startProgram('gateway/cli/service-console.js', args, { env: at.env });
    assert.equal(await named.exited, 0, named.output());
    assert.match(named.stdout(), args[1] === 'get' ? /engine_degraded/ : /LOST/);
  }
  process.stderr.write(`smoke: ${lost} lost, coverage ${coverage.toFixed(3)}\n`);
}

async function stop(at: Home, program: Program): Promise<void> {
  process.kill(-program.pid, 'SIGINT');
  const timer = setTimeout(() => process.kill(-program.pid, 'SIGKILL'), STOP_WITHIN_MS);
  const code = await program.exited;
  clearTimeout(timer);
  const left = processesOf(at.folder).filter(({ pid }) => pid !== process.pid);
  assert.deepEqual(left, [], `left behind:\n${program.output()}`);
  // npm itself ends by the interrupt once its child has stopped in order.
  assert.ok([0, 128, 130].includes(code), `exit code ${code}\n${program.output()}`);
}
