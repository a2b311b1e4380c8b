// The whole Sensor, joined to a quick-start Console on the same machine: what it uses at a steady hundred events a second,
// and how fast events go from the kernel to its spool in a storm of programs. Then a replayed export, without an engine:
// lines to the spool on disk. Needs root for the eBPF engine. `node props/bench/sensor.ts [seconds] [storm seconds]`
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import sensorProcess from '../../actors/runtime/sensor-process.json' with { type: 'json' };
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import { STREAM_TICK_MS } from '../../machines/limits.ts';
import { emptyFacts } from '../../sensor/actors/facts.ts';
import { startCollector } from '../../sensor/capabilities/collection/collector.ts';
import { diskExport } from '../../sensor/engine/export-files.ts';
import { createPipeline } from '../../sensor/pipeline/pipeline.ts';
import { openSpool } from '../../sensor/spool/spool.ts';
import { diskFiles } from '../../sensor/state-directory/file-port.ts';
import { createFlowTable } from '../../sensor/telemetry/flows.ts';
import { statusFile } from '../journeys/ebpf.ts';
import {
  createToken,
  enroll,
  isHealthy,
  onlySensor,
  startConsole,
  stop,
} from '../journeys/fleet.ts';
import { type Home, makeHome, ROOT, removeHome, startCommand } from '../journeys/programs.ts';
import { CHILD, SAMPLE_LINES } from '../pipeline/sample-lines.ts';
import { cpuSecondsOf, rssKibOf } from './process-stats.ts';

const STEADY_SECONDS = Number(process.argv[2] ?? 60);
const STORM_SECONDS = Number(process.argv[3] ?? 10);
const SENSOR = 'sensor/cli/service-sensor.js';
/** Each program is two events: it began and it ended. */
const STEADY_PROGRAMS = 50;
const WARM_UP_SECONDS = 20;
const REPLAYED_LINES = 60_000;
const LOOK_MS = 100;
const DRAIN_MS = 60_000;
/** What the rest of the machine does in the meantime. */
const QUIET_LINES = 500;
/** The picture of itself is not older. */
const STATUS_MS = 2_500;
// Of several names, as on a node at work: no burst stands for them.
const PROGRAM_NAMES = 25;
const PACED =
  'use Time::HiRes "sleep"; ($s, $rate, $names, $d) = @ARGV; $end = time + $s; $n = 0;' +
  ' while (time < $end) { $p = fork; exec "$d/program-" . ($n % $names), $n unless $p; $n++;' +
  ' waitpid $p, 0; sleep 1 / $rate }';
const STORM =
  '$end = time + $ARGV[0]; while (time < $end) { $p = fork; exec "/bin/true" unless $p; waitpid $p, 0 }';
/** Opens of a file that is watched: the cheapest way to make so many events. */
const OPENS_PER_SECOND = 20_000;
const OPENS =
  'use Time::HiRes qw(time sleep); ($s, $rate) = @ARGV; $began = time; $n = 0;' +
  ' while (time < $began + $s) { for (1..$rate / 100) { open F, "<", "/etc/shadow"; close F; $n++ }' +
  ' $ahead = $n / $rate - (time - $began); sleep $ahead if $ahead > 0 }';

await live();
await replay();

async function live(): Promise<void> {
  const home = await makeHome();
  try {
    const running = await startConsole(home);
    const enrolled = await enroll(home, await createToken(home));
    if (enrolled.code !== 0) throw new Error(enrolled.output);
    // As its launcher starts it.
    spawnSync(process.execPath, [...sensorProcess.flags, SENSOR, 'warm-up'], { cwd: ROOT });
    const words = [...sensorProcess.flags, SENSOR, 'run'];
    const sensor = startCommand(process.execPath, words, {
      env: { ...home.env, ...sensorProcess.env },
    });
    try {
      await onlySensor(home, isHealthy);
      const engine = childOf(sensor.pid, 'engine');
      const programs = mkdtempSync(join(home.folder, 'programs-'));
      for (let at = 0; at < PROGRAM_NAMES; at += 1) {
        copyFileSync('/bin/true', join(programs, `program-${at}`));
      }
      const pace = [STEADY_PROGRAMS, PROGRAM_NAMES, programs];
      await run(PACED, WARM_UP_SECONDS, ...pace);
      await steady(home, sensor.pid, engine, pace);
      const storms = availableParallelism();
      await storm('storm of programs', home, sensor.pid, engine, () =>
        Promise.all(Array.from({ length: storms }, () => run(STORM, STORM_SECONDS))),
      );
      await storm('storm of opens', home, sensor.pid, engine, () =>
        run(OPENS, STORM_SECONDS, OPENS_PER_SECOND),
      );
    } finally {
      await stop(sensor);
      await stop(running);
    }
  } finally {
    await removeHome(home);
  }
}

async function steady(
  home: Home,
  sensor: number,
  engine: number,
  pace: readonly (number | string)[],
): Promise<void> {
  const from = look(home, sensor, engine);
  const rss: number[] = [];
  const load = run(PACED, STEADY_SECONDS, ...pace);
  for (let second = 0; second < STEADY_SECONDS; second += 1) {
    await wait(1_000);
    rss.push(rssKibOf(sensor));
  }
  await load;
  print('steady', from, look(home, sensor, engine));
  const most = Math.max(...rss) / 1_024;
  const mean = rss.reduce((sum, one) => sum + one, 0) / rss.length / 1_024;
  say(`  Sensor RSS ${mean.toFixed(0)} MiB on average, ${most.toFixed(0)} MiB at most`);
  say(`  engine RSS ${(rssKibOf(engine) / 1_024).toFixed(1)} MiB`);
}

async function storm(
  name: string,
  home: Home,
  sensor: number,
  engine: number,
  load: () => Promise<unknown>,
): Promise<void> {
  const from = look(home, sensor, engine);
  await load();
  // What the kernel told by then is in the spool when the reader has nothing more to read.
  const deadline = performance.now() + DRAIN_MS;
  let [last, to] = [from, look(home, sensor, engine)];
  while (to.read - last.read > QUIET_LINES || to.read === from.read) {
    if (performance.now() > deadline) break;
    last = to;
    await wait(STATUS_MS);
    to = look(home, sensor, engine);
  }
  print(name, from, last);
}

type Look = {
  readonly atMs: number;
  readonly read: number;
  readonly spooled: number;
  readonly aggregated: number;
  readonly lost: number;
  readonly sensorCpu: number;
  readonly engineCpu: number;
};

function look(home: Home, sensor: number, engine: number): Look {
  const { pipeline } = statusFile(home);
  return {
    atMs: performance.now(),
    read: pipeline.read,
    spooled: pipeline.spooled,
    aggregated: pipeline.aggregated,
    lost: pipeline.engine_lost,
    sensorCpu: cpuSecondsOf(sensor),
    engineCpu: cpuSecondsOf(engine),
  };
}

function print(name: string, from: Look, to: Look): void {
  const seconds = (to.atMs - from.atMs) / 1_000;
  const read = to.read - from.read;
  const cpu = to.sensorCpu - from.sensorCpu;
  const engine = to.engineCpu - from.engineCpu;
  say(`${name}: ${seconds.toFixed(0)} s, ${read} lines (${(read / seconds).toFixed(0)}/s)`);
  say(
    `  ${to.spooled - from.spooled} events to the spool, ${to.aggregated - from.aggregated} told as part of a burst, ${to.lost - from.lost} lost`,
  );
  say(`  Sensor ${((cpu / seconds) * 100).toFixed(2)} % of a core, ${perLine(cpu, read)}`);
  say(`  engine ${((engine / seconds) * 100).toFixed(2)} % of a core, ${perLine(engine, read)}`);
}

function perLine(seconds: number, lines: number): string {
  return `${((seconds * 1_000_000) / Math.max(1, lines)).toFixed(1)} ms for 1,000 lines`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function run(script: string, ...words: (number | string)[]): Promise<void> {
  const child = spawn('perl', ['-e', script, ...words.map(String)], { stdio: 'ignore' });
  await once(child, 'exit');
}

/** The process whose parent is this one and whose name holds the word. */
function childOf(parent: number, word: string): number {
  const { stdout } = spawnSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent)], {
    encoding: 'utf8',
  });
  const line = stdout.split('\n').find((one) => one.includes(word)) ?? '';
  return Number(line.trim().split(' ')[0]);
}

/** An export that is there already, through reader, pipeline and spool, in the Sensor's own steps. */
async function replay(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sensor-'));
  try {
    const file = join(folder, 'tetragon.log');
    writeFileSync(file, mixedLines());
    const clock = createWheelClock();
    const opened = await openSpool({
      path: join(folder, 'events.jsonl'),
      files: diskFiles,
      clock,
      now: Date.now,
      logger: silentLogger,
      random: () => crypto.getRandomValues(new Uint8Array(16)),
    });
    if (!opened.ok) throw new Error(opened.detail);
    const { spool } = opened;
    const pipeline = createPipeline({ look: async () => null, workloadOf: () => undefined });
    const facts = emptyFacts();
    const before = process.cpuUsage();
    const beganMs = performance.now();
    const collector = startCollector(
      {
        spool,
        facts,
        clock,
        habits: { pipeline },
        now: Date.now,
        logger: silentLogger,
        flows: createFlowTable(),
        config: { intervals: { STREAM_TICK_MS } },
        ports: { exportFiles: diskExport },
      },
      file,
      () => 'sensor',
    );
    while (facts.pipeline.read < REPLAYED_LINES) await wait(LOOK_MS);
    const seconds = (performance.now() - beganMs) / 1_000;
    const used = process.cpuUsage(before);
    await collector.stop();
    await spool.close();
    clock.stop();
    say(
      `replay: ${REPLAYED_LINES} lines to the spool in ${seconds.toFixed(1)} s (${(REPLAYED_LINES / seconds).toFixed(0)}/s), ${perLine((used.user + used.system) / 1_000_000, REPLAYED_LINES)}`,
    );
    const bytes = readdirSync(folder).reduce(
      (sum, one) => sum + (one.startsWith('events') ? readFileSync(join(folder, one)).length : 0),
      0,
    );
    say(`  ${(bytes / 1_048_576).toFixed(0)} MiB of spool on disk`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Every kind of sample in turn, each process with a number of its own. */
function mixedLines(): string {
  const samples = Object.values(SAMPLE_LINES);
  return Array.from({ length: REPLAYED_LINES }, (_, at) => {
    const id = Buffer.from(`node-a:${at}000000:${at}`).toString('base64');
    const text = JSON.stringify(samples[at % samples.length]);
    return `${text.replaceAll(CHILD.exec_id, id).replaceAll('51583', String(10_000 + at))}\n`;
  }).join('');
}
