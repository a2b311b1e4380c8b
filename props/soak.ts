// `npm run soak`: fresh seeds for as long as told, shared between the fuzz targets and the simulated fleet. Ends with 0
// when nothing was found, 1 when the runner itself failed, 2 for a broken promise of safety, 3 for one of progress.
//   npm run soak -- --minutes 10 --targets csr,zstd --fuzz-only
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { runTargets, type TargetReport } from './fuzz/run-targets.ts';
import { TARGET_NAMES } from './fuzz/targets.ts';
import { PROFILES, type SoakOptions, type SoakSimulation } from './soak-options.ts';

const DEFAULT_SECONDS = 60;
const NIGHTLY_SEEDS = 10_000;
const EXIT = { nothing: 0, runner: 1, safety: 2 } as const;
const USAGE = `npm run soak -- [options]
  --seconds N | --minutes N   how long, for everything together (${DEFAULT_SECONDS} s)
  --seed S                    repeats a run; fresh when absent
  --targets a,b               these fuzz targets only
  --fuzz-only                 no simulated fleet
  --profile ${PROFILES.join('|')}   what the simulated fleet goes through (smoke)
  --simulate-only             no fuzzing
  --seeds N                   at most so many seeds of the simulated fleet; the nightly profile runs
                              ${NIGHTLY_SEEDS} of them, as long as it takes, unless told otherwise
  --database postgres         the simulated fleet on a real PostgreSQL; not replayable to the bit
  --workers N                 threads (one a core)
  --keep                      chooses the corpus of the repository anew from what was found`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  process.exitCode = await soak(readOptions());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = EXIT.runner;
}

async function soak(options: Options): Promise<number> {
  const { seed, workers } = options;
  say(`soak with --seed ${seed}, ${workers} workers, ${options.seconds} s`);
  if (options.isSimulationOnly) {
    return simulate({ ...options, seconds: options.simulationSeconds ?? options.seconds, say });
  }
  const half = options.isFuzzOnly ? options.seconds : options.seconds / 2;
  const reports = await runTargets({
    targets: options.targets,
    seed,
    seconds: half,
    workers,
    keeps: options.keeps,
    say,
  });
  printReports(reports, seed);
  const fuzzed = reports.some((report) => report.findings.length > 0) ? EXIT.safety : EXIT.nothing;
  if (options.isFuzzOnly) return fuzzed;
  const simulated = await simulate({
    ...options,
    seconds: options.simulationSeconds ?? half,
    say,
  });
  return fuzzed === EXIT.nothing || simulated === EXIT.runner ? simulated : fuzzed;
}

async function simulate(options: SoakOptions): Promise<number> {
  const module: SoakSimulation = await import(
    new URL('./soak-simulation.ts', import.meta.url).href
  );
  return module.soakSimulation(options);
}

function printReports(reports: readonly TargetReport[], seed: string): void {
  const table = new Table({
    head: ['target', 'executions', 'per second', 'blocks', 'new', 'inputs', 'findings'],
    style: { head: [], border: [] },
  });
  for (const { target, counts, findings } of reports) {
    const { executions, seconds, blocks, newBlocks, pool } = counts;
    const rate = Math.round(executions / Math.max(seconds, 0.001));
    table.push([target, executions, rate, blocks, newBlocks, pool, findings.length]);
  }
  say(table.toString());
  for (const { target, findings } of reports) {
    for (const { kind, detail, iteration, file } of findings) {
      say(`\n${target}: ${kind}\n  ${detail.split('\n').slice(0, 6).join('\n  ')}`);
      say(`  replay: node props/fuzz/replay.ts ${target} ${relative(process.cwd(), file)}`);
      say(`      or: node props/fuzz/replay.ts ${target} --seed ${seed} --iteration ${iteration}`);
    }
  }
}

type Options = ReturnType<typeof readOptions>;

function readOptions() {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string' },
      minutes: { type: 'string' },
      seed: { type: 'string' },
      targets: { type: 'string' },
      'fuzz-only': { type: 'boolean', default: false },
      'simulate-only': { type: 'boolean', default: false },
      profile: { type: 'string', default: 'smoke' },
      seeds: { type: 'string' },
      workers: { type: 'string' },
      database: { type: 'string', default: 'memory' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    say(USAGE);
    process.exit(EXIT.nothing);
  }
  const profile = PROFILES.find((one) => one === values.profile);
  if (profile === undefined) throw new Error(`--profile is one of ${PROFILES.join(', ')}`);
  if (!['memory', 'postgres'].includes(values.database)) {
    throw new Error('--database is memory or postgres');
  }
  const targets = values.targets?.split(',') ?? [...TARGET_NAMES];
  const unknown = targets.filter((name) => !TARGET_NAMES.some((one) => one === name));
  if (unknown.length > 0) throw new Error(`there is no target ${unknown.join(', ')}`);
  const minutes = numberOf('minutes', values.minutes);
  const isTimed = minutes !== null || values.seconds !== undefined;
  const seeds = numberOf('seeds', values.seeds);
  const isWholeNight = profile === 'nightly' && !isTimed;
  return {
    seconds: numberOf('seconds', values.seconds) ?? (minutes ?? DEFAULT_SECONDS / 60) * 60,
    seed: values.seed ?? String(randomBytes(4).readUInt32LE()),
    targets,
    isFuzzOnly: values['fuzz-only'],
    isSimulationOnly: values['simulate-only'],
    // Seeds that were counted are run to the last one.
    simulationSeconds:
      isWholeNight || (seeds !== null && !isTimed) ? Number.MAX_SAFE_INTEGER : null,
    profile,
    seeds: seeds ?? (isWholeNight ? NIGHTLY_SEEDS : null),
    workers: Math.max(1, Math.floor(numberOf('workers', values.workers) ?? availableParallelism())),
    isOnPostgres: values.database === 'postgres',
    keeps: values.keep,
  };
}

function numberOf(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} is a number above 0`);
  return value;
}
