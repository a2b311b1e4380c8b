// From an event that is durable to a webhook that has heard of it: node props/bench/delivery.ts [a second] [seconds] [--profile]
// A whole Console with its databases, twenty webhooks, one of them dead; nodes tell of programs at a fixed rate, and a rule
// makes an alert of each. Console, PostgreSQL, ClickHouse, receiver and nodes are processes of their own, this one is the
// nodes. Times are printed and never asserted.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build, type Histogram } from 'hdr-histogram-js';
import { RULE_LIVE_ALERTS_MAX } from '../../machines/limits.ts';
import { api, items } from '../journeys/api.ts';
import { startConsole, stop } from '../journeys/fleet.ts';
import { heartbeatBody, keepAliveAgent, type Pair, post } from '../journeys/peer.ts';
import {
  eventually,
  type Home,
  makeHome,
  type Program,
  processesOf,
  removeHome,
} from '../journeys/programs.ts';
import { openWebhookReceiver } from '../peers/webhook-receiver.ts';
import { prepareFleet } from './fleet.ts';
import { childrenOf, cpuSecondsOf } from './process-stats.ts';
import { summarizeProfile } from './profile-summary.ts';

const WEBHOOKS = 20;
const LIVE = WEBHOOKS - 1;
const SENSORS = 25;
const WARMUP_SECONDS = 8;
const DRAIN_MS = 60_000;
const TELL_MS = 100;
const NOBODY_LISTENS = 9;
const PROFILE_LINES = 25;
const FAR = '2030-01-01T00:00:00.000Z';
/** A rule is paused that has so many live alerts; each of these gets fewer. */
const RULES = Math.ceil(5_000 / RULE_LIVE_ALERTS_MAX);
const ruleOf = (at: number) => ({
  ...{ rule_name: `bench ${at}`, severity: 'high', group_by: ['process.binary'] },
  detect: { kind: 'match', condition: `event_kind:process_exec and binary:/bench/${at}/*` },
});

type Opened = { readonly port: number; readonly caPem: string };
/** Which program, and when. */
type Seen = readonly (readonly [at: number, atMs: number])[];

if (process.env['DELIVERY_BENCH_RECEIVER'] === 'yes') await receive();
else await measure();

/** The other process: takes everything, and tells what came when. */
async function receive(): Promise<void> {
  const receiver = await openWebhookReceiver();
  let seen: [number, number][] = [];
  receiver.answerWith(({ body }) => {
    const [, number = ''] = /\/bench\/\d+\/(\d+)/.exec(body.toString()) ?? [];
    seen.push([Number(number), Date.now()]);
    receiver.received.length = 0;
    return { status: 204 };
  });
  const tell = setInterval(() => {
    if (seen.length > 0) process.send?.(seen);
    seen = [];
  }, TELL_MS);
  process.send?.({ port: receiver.port, caPem: receiver.caPem });
  process.once('disconnect', () => {
    clearInterval(tell);
    void receiver.close();
  });
}

async function measure(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { profile: { type: 'boolean', default: false } },
  });
  const [perSecond = 1_000, seconds = 30] = positionals.map(Number);
  const home = await makeHome();
  const receiver = fork(import.meta.filename, {
    env: { ...process.env, DELIVERY_BENCH_RECEIVER: 'yes' },
  });
  const profiles = join(home.folder, 'profiles');
  let running: Program | null = null;
  try {
    const opened = await new Promise<Opened>((resolve) =>
      receiver.once('message', resolve as never),
    );
    const { sensors } = await prepareFleet(home.consoleDir, SENSORS);
    mkdirSync(profiles);
    const profiling = { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}` };
    running = await startConsole(home, values.profile ? profiling : {});
    await setUp(home, opened);
    say(`load before ${loadavg()[0]?.toFixed(1)}; ${perSecond} a second for ${seconds} s`);
    await run({ home, receiver, running, sensors, perSecond, seconds });
    await stop(running);
    if (values.profile) tellProfile(profiles);
  } finally {
    if (running !== null) await stop(running);
    receiver.disconnect();
    await removeHome(home);
  }
}

function tellProfile(folder: string): void {
  const { functions, files } = summarizeProfile(folder, { top: PROFILE_LINES, skipSeconds: 20 });
  for (const { place, share } of [...functions, ...files]) {
    say(`${(share * 100).toFixed(1)} % ${place}`);
  }
}

async function setUp(home: Home, { port, caPem }: Opened): Promise<void> {
  const ask = async (method: string, path: string, body: object): Promise<void> => {
    const answer = await api(home, method, `/api/v2${path}`, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  };
  type Setting = { readonly name: string; readonly revision: number };
  const all = await items<Setting>(home, '/api/v2/settings');
  const { revision = 0 } = all.find(({ name }) => name === 'webhook_allow_list') ?? {};
  await ask('PATCH', '/settings', {
    values: { webhook_allow_list: ['127.0.0.1'] },
    revisions: { webhook_allow_list: revision },
  });
  for (let at = 0; at < WEBHOOKS; at += 1) {
    // The last one is dead.
    const target_url = `https://127.0.0.1:${at === LIVE ? NOBODY_LISTENS : port}/hook/${at}`;
    await ask('POST', '/webhooks', {
      ...{ webhook_type: 'generic', name: `hook ${at}`, target_url },
      options: { alert_kinds: ['security_event'], ca_pem: caPem, rate_per_minute: 60_000 },
    });
  }
  for (let at = 0; at < RULES; at += 1) {
    await ask('POST', '/alert-rules', { rule_id: `bench-${at}`, spec: ruleOf(at) });
  }
}

type Run = {
  readonly home: Home;
  readonly receiver: ChildProcess;
  readonly running: Program;
  readonly sensors: readonly Pair[];
  readonly perSecond: number;
  readonly seconds: number;
};

async function run({ home, receiver, running, sensors, perSecond, seconds }: Run): Promise<void> {
  const alertsPerSecond = perSecond / WEBHOOKS;
  const first = Math.ceil(alertsPerSecond * WARMUP_SECONDS);
  const last = first + Math.ceil(alertsPerSecond * seconds);
  const durableAtMs: number[] = [];
  const took = build();
  const early: [number, number][] = [];
  let [arrived, measured] = [0, 0];
  const note = (at: number, atMs: number): void => {
    if (at < first) return;
    const since = durableAtMs[at];
    // Its alert may be told before the node hears that the event is durable.
    if (since === undefined) return void early.push([at, atMs]);
    measured += 1;
    took.recordValue(Math.max(1, atMs - since));
  };
  receiver.on('message', (seen: Seen) => {
    arrived += seen.length;
    for (const [at, atMs] of [...early.splice(0), ...seen]) note(at, atMs);
  });
  const tell = nodesOf(home, sensors);
  const beganMs = performance.now();
  const pending = new Set<Promise<void>>();
  let spent: Spent | null = null;
  let arrivedBefore = 0;
  for (let at = 0; at < last; at += 1) {
    const dueMs = beganMs + (at / alertsPerSecond) * 1_000;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    if (at === first) {
      spent = spentOf(home, running, receiver);
      arrivedBefore = arrived;
    }
    const told = tell(at).then((ms) => {
      durableAtMs[at] = ms;
    });
    pending.add(told);
    void told.finally(() => pending.delete(told));
  }
  const after = spentOf(home, running, receiver);
  const inWindow = arrived - arrivedBefore;
  await Promise.all(pending);
  const wanted = (last - first) * LIVE;
  const backlog = last * LIVE - arrived;
  const begunMs = performance.now();
  const isAll = (): true | null => {
    for (const [at, atMs] of early.splice(0)) note(at, atMs);
    return measured >= wanted ? true : null;
  };
  await eventually('everything arrives', isAll, DRAIN_MS).catch(() => undefined);
  tellResult({ took, wanted, measured, backlog, drainMs: performance.now() - begunMs });
  if (spent !== null) tellSpent(spent, after, inWindow, seconds);
}

/** Nodes that take turns; resolves with the instant at which one heard that its event is durable. */
function nodesOf(home: Home, sensors: readonly Pair[]): (at: number) => Promise<number> {
  const nodes = sensors.map((pair, at) => ({
    ...{ pair, agent: keepAliveAgent(), sequence: 0, last: Promise.resolve(0) },
    streamId: at.toString(16).padStart(32, '0'),
  }));
  return (at) => {
    const node = nodes[at % nodes.length];
    if (node === undefined) throw new Error('there are no nodes');
    const tell = async (): Promise<number> => {
      node.sequence += 1;
      const event = {
        ...{ event_id: at.toString(16).padStart(32, '0'), schema_version: 1, severity: 'info' },
        ...{ observed_at: new Date().toISOString(), event_kind: 'process_exec', message: 'bench' },
        process: {
          exec_id: `bench-${at}`,
          pid: 1_000 + at,
          uid: 0,
          binary: `/bench/${at % RULES}/${at}`,
        },
      };
      const body = heartbeatBody(node.streamId, node.sequence, [event], FAR);
      const { pair, agent } = node;
      for (;;) {
        const answer = await post(home, { path: '/sensors/heartbeat', body, pair, agent });
        if (answer.body['acknowledged_sequence'] === node.sequence) return Date.now();
        await sleep(TELL_MS);
      }
    };
    node.last = node.last.then(tell);
    return node.last;
  };
}

type Spent = Readonly<Record<string, number>>;

/** CPU seconds so far, by program. */
function spentOf(home: Home, running: Program, receiver: ChildProcess): Spent {
  const spent: Record<string, number> = {};
  const add = (name: string, pid: number): void => {
    try {
      spent[name] = (spent[name] ?? 0) + cpuSecondsOf(pid);
    } catch {
      // It has ended.
    }
  };
  for (const { pid, command } of processesOf(home.folder)) {
    if (pid === running.pid) add('Console', pid);
    else if (!/postgres/.test(command)) add('ClickHouse', pid);
    // What serves connections there names no folder.
    else for (const one of [pid, ...childrenOf(pid)]) add('PostgreSQL', one);
  }
  add('receiver', receiver.pid ?? 0);
  add('nodes', process.pid);
  return spent;
}

function tellResult(of: {
  readonly took: Histogram;
  readonly wanted: number;
  readonly measured: number;
  readonly backlog: number;
  readonly drainMs: number;
}): void {
  const { took, wanted, measured, backlog, drainMs } = of;
  say(
    `${measured} of ${wanted} arrived; p50 ${took.getValueAtPercentile(50)} ms, ` +
      `p99 ${took.getValueAtPercentile(99)} ms, worst ${took.maxValue} ms; ` +
      `${backlog} were under way when the load ended, for ${Math.round(drainMs)} ms`,
  );
}

function tellSpent(before: Spent, after: Spent, arrived: number, seconds: number): void {
  const names = Object.keys(after);
  const spent = names.map((name) => (after[name] ?? 0) - (before[name] ?? 0));
  const total = spent.reduce((sum, one) => sum + one, 0);
  const each = names.map((name, at) => `${name} ${perThousand(spent[at] ?? 0, arrived)}`);
  say(
    `${Math.round(arrived / seconds)} a second arrived meanwhile; CPU s per 1,000: ` +
      `${perThousand(total, arrived)} in all: ${each.join(', ')}`,
  );
  say(
    `${cpus().length} cores, ${cpus()[0]?.model}, Node ${process.version}; load after ${loadavg()[0]?.toFixed(1)}`,
  );
}

function perThousand(seconds: number, arrived: number): string {
  return ((seconds / Math.max(1, arrived)) * 1_000).toFixed(2);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
