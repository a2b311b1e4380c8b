// A pack for a thousand nodes: how long until each of them says that it enforces a new version, what that costs the Console,
// and what a policy that does not change adds to the CPU of a heartbeat, measured by turns on nodes with and without one.
//   node props/bench/policy-fleet.ts [--sensors 1000] [--versions 5] [--rounds 6] [--seconds 10]
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { allItems } from '../journeys/api.ts';
import type { Program } from '../journeys/programs.ts';
import { type BenchHome, openBenchHome } from './bench-console.ts';
import { type Fleet, prepareFleet } from './fleet.ts';
import type { LoadPlan, LoadResult } from './load.ts';
import type { PolicyNodesPlan } from './policy-nodes.ts';
import { askConsole, makePack, publishFor, writeDraft } from './policy-pack.ts';
import { cpuSecondsOf } from './process-stats.ts';

const TAG = 'with-policies';
const BULK = 500;
const REST_MS = 10_000;
const REACH_MS = 120_000;
const WARMUP_SECONDS = 4;
const PAUSE_MAX_MS = 2_000;
const options = readOptions();
const opened = await openBenchHome();
const { home } = opened;
const say = (text: string) => process.stdout.write(`${text}\n`);
type Bench = BenchHome & { readonly fleet: Fleet; readonly gateway: Program };

try {
  // As many again, which have no policies.
  const fleet = await prepareFleet(home.consoleDir, 2 * options.sensors);
  const gateway = await opened.startGateway();
  const bench: Bench = { ...opened, fleet, gateway };
  await tagHalf();
  await reachAll(bench);
  await unchanged(bench);
} finally {
  await opened.tidy();
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      sensors: { type: 'string', default: '1000' },
      versions: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '6' },
      seconds: { type: 'string', default: '10' },
    },
  });
  return {
    sensors: Number(values.sensors),
    versions: Number(values.versions),
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
  };
}

/** The first half of the fleet has a tag. */
async function tagHalf(): Promise<void> {
  type Listed = { readonly sensor_id: string; readonly node_name: string };
  const all = await allItems<Listed>(home, `/api/v2/sensors?limit=${BULK}`);
  const half = all.filter(({ node_name }) => Number(node_name.split('-')[1]) < options.sensors);
  for (let at = 0; at < half.length; at += BULK) {
    const sensor_ids = half.slice(at, at + BULK).map(({ sensor_id }) => sensor_id);
    await askConsole(home, 'POST', '/sensors/bulk-change', { sensor_ids, add_tags: [TAG] });
  }
}

async function reachAll({ fleet, gateway, start, writePlan, end }: Bench): Promise<void> {
  const keys = await askConsole<{ signing_keys_sha256: string }>(home, 'GET', '/signing-keys');
  const plan: PolicyNodesPlan = {
    ...{ port: home.port, ca: fleet.tls.serverCaPem },
    sensors: fleet.sensors.slice(0, options.sensors),
    signingKeysSha256: keys.signing_keys_sha256,
  };
  const nodes = start('props/bench/policy-nodes.ts', [writePlan(plan)]);
  await nodes.prints(/open \d+\n/, REACH_MS);
  await wait(REST_MS);
  const before = cpuSecondsOf(gateway.pid);
  await wait(REST_MS);
  const restPerMs = (cpuSecondsOf(gateway.pid) - before) / REST_MS;
  const packId = await makePack(home);
  for (let version = 1; version <= options.versions; version += 1) {
    await oneVersion({ nodes, gateway, packId, version, restPerMs });
  }
  await end(nodes);
}

async function oneVersion(of: {
  readonly nodes: Program;
  readonly gateway: Program;
  readonly packId: string;
  readonly version: number;
  readonly restPerMs: number;
}): Promise<void> {
  const { nodes, gateway, packId, version, restPerMs } = of;
  await writeDraft(home, packId, version);
  const [began, cpu] = [Date.now(), cpuSecondsOf(gateway.pid)];
  await publishFor(home, { kind: 'tag', id: TAG }, { packId, version });
  const line = await nodes.prints(new RegExp(`reached ${version} \\[.*\\]\\n`), REACH_MS);
  const tookMs = Date.now() - began;
  // What was still to be written after the last answer.
  await wait(2_000);
  const spent = cpuSecondsOf(gateway.pid) - cpu - restPerMs * (tookMs + 2_000);
  const times = (JSON.parse(line.slice(line.indexOf('['))) as number[]).sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? began) - began;
  say(
    `version ${version}: ${times.length} nodes enforce it after p50 ${at(0.5)}, p99 ${at(0.99)}, ` +
      `all ${at(1)} ms; CPU of the Console ${((spent * 1_000) / times.length).toFixed(2)} s for 1,000`,
  );
}

/** By turns, so that whatever else the machine does is shared. */
async function unchanged(bench: Bench): Promise<void> {
  const { sensors } = bench.fleet;
  const sides = [
    { name: 'without policies', sensors: sensors.slice(options.sensors), ms: [] as number[] },
    {
      name: 'with a pack that does not change',
      sensors: sensors.slice(0, options.sensors),
      ms: [],
    },
  ];
  for (let round = 0; round < options.rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : [...sides].reverse()) {
      side.ms.push(await heartbeats(bench, side.sensors));
    }
  }
  const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length;
  for (const { name, ms } of sides) {
    const each = ms.map((one) => one.toFixed(3)).join(', ');
    say(`${name}: ${mean(ms).toFixed(4)} ms of CPU a heartbeat (${each})`);
  }
  const [without = 0, having = 0] = sides.map(({ ms }) => mean(ms));
  say(`a policy that does not change adds ${((having / without - 1) * 100).toFixed(2)} %`);
}

async function heartbeats(bench: Bench, sensors: LoadPlan['sensors']): Promise<number> {
  const { gateway, start, writePlan, fleet } = bench;
  const plan: LoadPlan = {
    ...{ port: home.port, ca: fleet.tls.serverCaPem, sensors, seconds: options.seconds },
    ...{ warmupSeconds: WARMUP_SECONDS, pauseMaxMs: PAUSE_MAX_MS, eventsPerHeartbeat: 10 },
  };
  const sender = start('props/bench/load.ts', [writePlan(plan)]);
  await sender.prints(/begin\n/);
  const before = cpuSecondsOf(gateway.pid);
  const line = await sender.prints(/\{"done".*\}\n/);
  const spent = cpuSecondsOf(gateway.pid) - before;
  await sender.exited;
  const { done, refused } = JSON.parse(line) as LoadResult;
  if (refused > 0) say(`${refused} heartbeats were refused`);
  return (spent * 1_000) / done;
}
