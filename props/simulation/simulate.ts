// `npm run simulate`: one run by its seed or from a kept case, told to a person. Exit codes: 0 held, 1 the simulation or
// a product process crashed, 2 a promise was broken, 3 the fleet did not recover, 64 the command makes no sense.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchActorStates } from './actor-states.ts';
import { type Command, describeCommand, readCommand, USAGE } from './command.ts';
import { beginCoverage, coverageOf } from './coverage.ts';
import { drawPlan } from './faults/plan.ts';
import { drawOptions, lengthMs } from './options.ts';
import type { PlantedBug } from './planted/planted-bug.ts';
import { NOT_REPLAYABLE, startRealServer } from './real-database.ts';
import { caseOf, readRegression, regressionOf, saveRegression } from './regressions/regression.ts';
import { type Reported, textReport } from './report.ts';
import { reportPage } from './report-page.ts';
import { type RunOptions, type RunResult, runSimulation } from './run.ts';
import { type Failing, failureOf, shrink } from './shrink.ts';
import { MACHINES, whyUnreachable } from './unreachable.ts';
import type { World } from './world/world.ts';

const EXIT = { held: 0, crash: 1, safety: 2, liveness: 3, misuse: 64 } as const;
const PROGRESS_MS = 1_000;

/** Runs what the arguments ask for; answers the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const read = readCommand(args, () => String(Date.now() % 1_000_000_000));
  if (!read.ok) return refuse(read.mistakes);
  const { command } = read;
  const failing = await caseOfCommand(command);
  if (typeof failing === 'string') return refuse([failing]);
  const states = watchActorStates();
  const replay = describeCommand(command);
  let reported =
    command.database === 'memory'
      ? await runReported(failing, replay)
      : await onRealDatabase((databaseUrl) => runReported(failing, replay, { databaseUrl }));
  if (command.json) console.log(JSON.stringify(jsonOf(reported), null, 1));
  else console.log(textReport(reported, command.coverage));
  const { outcome } = reported.result;
  const kept = outcome === 'held' ? null : await keep(command, failing, reported.result);
  if (kept !== null) {
    tell(`kept as ${kept.path}`);
    // Only a smaller case is worth a second run before its page is made.
    if (command.shrink) reported = await runReported(kept.failing, kept.replay);
  }
  if (outcome !== 'held' || command.report !== null) {
    const path = command.report ?? join(tmpdir(), `simulation-${fileName(failing)}.html`);
    writeFileSync(path, reportPage(reported, states));
    tell(`page: ${path}`);
  }
  return EXIT[outcome];
}

function refuse(mistakes: readonly string[]): number {
  for (const mistake of mistakes) tell(mistake);
  tell(USAGE);
  return EXIT.misuse;
}

/** For the person who waits; what programs read goes to standard output alone. */
function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

function fileName({ options: { seed } }: Failing): string {
  return seed.replace(/[^A-Za-z0-9-]+/g, '-');
}

/** What is to be run; a sentence when there is no such thing. */
async function caseOfCommand(command: Command): Promise<Failing | string> {
  const { seed, profile, given } = command;
  let bug: PlantedBug | undefined;
  if (command.bug !== null) {
    const { PLANTED } = await import('./planted/all.ts');
    bug = PLANTED.find(({ name }) => name === command.bug);
    if (bug === undefined) {
      return `there is no planted bug ${command.bug}; there are ${PLANTED.map(({ name }) => name).join(', ')}`;
    }
  }
  const planted = bug === undefined ? {} : { bug };
  if (command.replay !== null) {
    try {
      return { ...caseOf(readRegression(command.replay)), ...planted };
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  const options = { ...drawOptions(seed, profile), ...bug?.options, ...given, seed, profile };
  return { options, plan: drawPlan(options), ...planted };
}

async function runReported(
  failing: Failing,
  replay: string,
  more: Pick<RunOptions, 'databaseUrl'> = {},
): Promise<Reported> {
  const { options, plan, bug } = failing;
  const visits = beginCoverage(MACHINES);
  const began = process.cpuUsage();
  const progress = showProgress(lengthMs(options));
  const result = await runSimulation(options, {
    ...more,
    plan,
    ...(bug === undefined ? {} : { bug }),
    onWorld: progress.follow,
  });
  progress.end();
  const { user, system } = process.cpuUsage(began);
  return {
    options,
    result,
    coverage: coverageOf(MACHINES, visits, whyUnreachable),
    cpuSeconds: (user + system) / 1_000_000,
    replay,
  };
}

/** Runs it on a PostgreSQL of its own. */
async function onRealDatabase(run: (url: string) => Promise<Reported>): Promise<Reported> {
  const server = await startRealServer();
  tell(NOT_REPLAYABLE);
  try {
    return await run((await server.copy()).url);
  } finally {
    await server.stop();
  }
}

/** One line on the terminal that is written over and over. */
function showProgress(endMs: number): { follow: (world: World) => void; end: () => void } {
  if (!process.stderr.isTTY) return { follow: () => undefined, end: () => undefined };
  let world: World | null = null;
  const timer = setInterval(() => {
    if (world === null) return;
    const nowMs = world.scheduler.now();
    const part = Math.min(100, Math.floor((nowMs / endMs) * 100));
    const faults = world.log.counts()['fault'] ?? 0;
    process.stderr.write(
      `\r\u001b[K${part} % of ${(endMs / 3_600_000).toFixed(1)} h, ${faults} accidents, ${world.scheduler.steps()} steps`,
    );
  }, PROGRESS_MS);
  return {
    follow(of) {
      world = of;
    },
    end() {
      clearInterval(timer);
      process.stderr.write('\r\u001b[K');
    },
  };
}

type Kept = { readonly failing: Failing; readonly path: string; readonly replay: string };

/** Makes a failing run smaller and keeps it, as far as that was asked for. */
async function keep(command: Command, failing: Failing, result: RunResult): Promise<Kept | null> {
  const failure = failureOf(result);
  if (failure === null || (!command.shrink && command.save === null)) return null;
  const smaller = command.shrink
    ? await shrink(failing, { tryCase, onProgress: (line) => tell(line) })
    : null;
  const { options, plan } = smaller ?? failing;
  const story = command.save ?? result.violations[0]?.detail ?? result.crashes[0] ?? '';
  const found = new Date().toISOString().slice(0, 10);
  const regression = regressionOf({ options, plan }, smaller?.failure ?? failure, { story, found });
  const path = saveRegression(regression, command.save === null ? tmpdir() : undefined);
  const replay = describeCommand({ ...command, given: {}, replay: path });
  return { failing: { ...failing, options, plan }, path, replay };
}

async function tryCase({ options, plan, bug }: Failing): Promise<ReturnType<typeof failureOf>> {
  return failureOf(await runSimulation(options, { plan, ...(bug === undefined ? {} : { bug }) }));
}

function jsonOf({ options, result, coverage, cpuSeconds, replay }: Reported): object {
  const { fleet, recent: _recent, ...told } = result;
  const sleptMs = fleet.world.scheduler.sleptMs();
  return { options, ...told, sleptMs, cpuSeconds, coverage, replay };
}

process.exitCode = await main(process.argv.slice(2));
