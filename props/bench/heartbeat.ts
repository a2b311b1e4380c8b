// What a heartbeat costs. The same load, heartbeats with ten events, goes first to a bare listener (mutual TLS, parses the
// same JSON, keeps nothing) and then to a Console with embedded stores that stores every event durably; both are
// measured by the kernel's account of the one gateway process, databases and load apart. Then a Console started afresh
// holds thousands of streams, and its memory is divided by them. Times are printed and never asserted.
//   node props/bench/heartbeat.ts [--seconds 12] [--sensors 1000] [--streams 5000] [--profile]
import { mkdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import type { Program } from '../journeys/programs.ts';
import { type BenchHome, openBenchHome } from './bench-console.ts';
import { type Fleet, prepareFleet } from './fleet.ts';
import type { LoadPlan, LoadResult } from './load.ts';
import { cpuSecondsOf, openFilesMax, rssKibOf } from './process-stats.ts';
import { summarizeProfile } from './profile-summary.ts';

/** Long enough for the hot path to be compiled. */
const WARMUP_SECONDS = 8;
const EVENTS_PER_HEARTBEAT = 10;
/** Sensors do not beat in step: each waits so long at most after an answer, which also keeps both sides' rates alike. */
const PAUSE_MAX_MS = 1_000;
const SETTLE_MS = 2_000;
/** Files the Console needs beside its streams. */
const FILES_SPARE = 500;
const PROFILE_LINES = 15;

type Rate = LoadResult & { readonly cpuMsPerHeartbeat: number };
type Options = ReturnType<typeof readOptions>;
type Bench = BenchHome & { readonly fleet: Fleet; readonly options: Options };

const options = readOptions();
const opened = await openBenchHome();
try {
  const began = performance.now();
  const count = Math.max(options.sensors, options.streams);
  say(`enrolling ${count} sensors`);
  const fleet = await prepareFleet(opened.home.consoleDir, count);
  const bench = { ...opened, options, fleet };
  const bare = await measureBare(bench);
  const gateway = await measureConsole(bench);
  printRates(bare, gateway);
  if (options.streams > 0) await measureStreams(bench);
  if (options.profile) await profileConsole(bench);
  process.stdout.write(
    `${cpus().length} cores, ${cpus()[0]?.model}, Node ${process.version}, ${new Date().toISOString()}, ` +
      `${Math.round((performance.now() - began) / 1_000)} s\n`,
  );
} finally {
  await opened.tidy();
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '12' },
      sensors: { type: 'string', default: '1000' },
      streams: { type: 'string', default: '5000' },
      profile: { type: 'boolean', default: false },
    },
  });
  const room = Math.floor(openFilesMax() - FILES_SPARE);
  const number = (text: string) => Math.min(Number.parseInt(text, 10) || 0, room);
  return {
    seconds: Number(values.seconds) || 12,
    sensors: Math.max(1, number(values.sensors)),
    streams: number(values.streams),
    profile: values.profile,
  };
}

async function measureBare(bench: Bench): Promise<Rate> {
  say('the bare listener');
  const { certFile, keyFile, clientCaFile } = bench.fleet.tls;
  const listener = bench.start('props/bench/bare.ts', [
    certFile,
    keyFile,
    clientCaFile,
    join(bench.home.consoleDir, 'runtime'),
  ]);
  const line = await listener.prints(/port \d+\n/);
  const { seconds } = bench.options;
  const rate = await measureLoad(bench, { on: listener, port: Number(line.slice(5)), seconds });
  await bench.end(listener);
  return rate;
}

async function measureConsole(bench: Bench): Promise<Rate> {
  say('the Console');
  const gateway = await bench.startGateway();
  const { seconds } = bench.options;
  const rate = await measureLoad(bench, { on: gateway, port: bench.home.port, seconds });
  await bench.end(gateway);
  return rate;
}

async function measureLoad(
  { fleet, options: wanted, start, writePlan }: Bench,
  target: { readonly on: Program; readonly port: number; readonly seconds: number },
): Promise<Rate> {
  const plan: LoadPlan = {
    port: target.port,
    ca: fleet.tls.serverCaPem,
    sensors: fleet.sensors.slice(0, wanted.sensors),
    seconds: target.seconds,
    warmupSeconds: WARMUP_SECONDS,
    pauseMaxMs: PAUSE_MAX_MS,
    eventsPerHeartbeat: EVENTS_PER_HEARTBEAT,
  };
  const sender = start('props/bench/load.ts', [writePlan(plan)]);
  await sender.prints(/begin\n/);
  const before = cpuSecondsOf(target.on.pid);
  const line = await sender.prints(/\{"done".*\}\n/);
  const cpuSeconds = cpuSecondsOf(target.on.pid) - before;
  const result = JSON.parse(line) as LoadResult;
  await sender.exited;
  return { ...result, cpuMsPerHeartbeat: (cpuSeconds * 1_000) / result.done };
}

async function measureStreams(bench: Bench): Promise<void> {
  const { fleet, home: at, options: wanted } = bench;
  say(`${wanted.streams} streams`);
  const gateway = await bench.startGateway();
  await settle();
  const before = rssKibOf(gateway.pid);
  const sensors = fleet.sensors.slice(0, wanted.streams);
  const plan = { port: at.port, ca: fleet.tls.serverCaPem, sensors };
  const holder = bench.start('props/bench/streams.ts', [bench.writePlan(plan)]);
  await holder.prints(/open \d+\n/, 120_000);
  await settle();
  const after = rssKibOf(gateway.pid);
  holder.kill('SIGKILL');
  await holder.exited;
  await bench.end(gateway);
  const each = (after - before) / sensors.length;
  process.stdout.write(
    `gateway RSS: ${mib(before)} MiB with ${fleet.sensors.length} sensors enrolled, ${mib(after)} MiB with ` +
      `${sensors.length} streams open = ${each.toFixed(1)} KiB per connected sensor\n`,
  );
}

async function profileConsole(bench: Bench): Promise<void> {
  say('the Console under the profiler');
  const folder = join(bench.home.folder, 'profile');
  mkdirSync(folder);
  const began = performance.now();
  const gateway = await bench.startGateway(['--cpu-prof', `--cpu-prof-dir=${folder}`]);
  const { seconds } = bench.options;
  await measureLoad(bench, { on: gateway, port: bench.home.port, seconds });
  const skipSeconds = (performance.now() - began) / 1_000 - seconds;
  await bench.end(gateway);
  const summary = summarizeProfile(folder, { top: PROFILE_LINES, skipSeconds });
  for (const [what, times] of Object.entries(summary)) {
    const table = new Table({ head: ['self', what], style: { head: [], border: [] } });
    for (const { place, share } of times) table.push([`${(share * 100).toFixed(1)} %`, place]);
    process.stdout.write(`${table}\n`);
  }
}

function printRates(bare: Rate, gateway: Rate): void {
  const table = new Table({
    head: ['', 'heartbeats/s', 'CPU s per 1,000', 'p50 ms', 'p99 ms', 'done', 'refused'],
    style: { head: [], border: [] },
  });
  const row = (name: string, rate: Rate) => [
    name,
    rate.perSecond.toFixed(0),
    rate.cpuMsPerHeartbeat.toFixed(3),
    rate.p50Ms.toFixed(1),
    rate.p99Ms.toFixed(1),
    rate.done,
    rate.refused,
  ];
  const ratio = (a: number, b: number) => `x ${(a / b).toFixed(2)}`;
  table.push(row('bare listener', bare), row('Console', gateway), [
    'ratio',
    ratio(gateway.perSecond, bare.perSecond),
    ratio(gateway.cpuMsPerHeartbeat, bare.cpuMsPerHeartbeat),
    '',
    '',
    '',
    '',
  ]);
  process.stdout.write(
    `${options.sensors} sensors, ${EVENTS_PER_HEARTBEAT} events a heartbeat, pause 0-${PAUSE_MAX_MS} ms, ` +
      `${options.seconds} s each\n${table}\n`,
  );
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}

function mib(kib: number): string {
  return (kib / 1_024).toFixed(0);
}

function say(text: string): void {
  process.stderr.write(`${text} ...\n`);
}
