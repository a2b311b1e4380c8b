// The simulated fleet's part of a soak: seeds by the thousand over several threads, until the time is over or the seeds
// are. What failed is told with the command that repeats it.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { coverageOf } from './simulation/coverage.ts';
import { PLANTED } from './simulation/planted/all.ts';
import { findFirst } from './simulation/planted/find.ts';
import { profileThatFinds } from './simulation/planted/found-under.ts';
import type { PlantedBug } from './simulation/planted/planted-bug.ts';
import { NOT_REPLAYABLE, startRealServer } from './simulation/real-database.ts';
import { coverageLines } from './simulation/report.ts';
import type { SoakOrder, SoakWord } from './simulation/soak-worker.ts';
import { MACHINES, whyUnreachable } from './simulation/unreachable.ts';
import type { SoakOptions } from './soak-options.ts';

const EXIT = { held: 0, crash: 1, safety: 2, liveness: 3 } as const;
const WORD_EVERY_MS = 10_000;
const FAILURES_SHOWN_MAX = 20;
const PLANTED_TRIES_MAX = 200;

type Sum = {
  runs: number;
  sensorHours: number;
  asleepHours: number;
  steps: number;
  observations: number;
  cpuSeconds: number;
  readonly faults: Map<string, number>;
  readonly failed: SoakWord[];
  readonly hashes: Map<string, string>;
  readonly places: Set<string>;
};

/** Runs seeds of the profile; answers the exit code of the worst of them. */
export async function soakSimulation(options: SoakOptions): Promise<number> {
  const { say, seed, profile } = options;
  const sum: Sum = {
    runs: 0,
    sensorHours: 0,
    asleepHours: 0,
    steps: 0,
    observations: 0,
    cpuSeconds: 0,
    faults: new Map(),
    failed: [],
    hashes: new Map(),
    places: new Set(),
  };
  const endsMs = performance.now() + options.seconds * 1_000;
  const seedsMax = options.seeds ?? Number.POSITIVE_INFINITY;
  let next = 0;
  let saidMs = performance.now();

  async function work(): Promise<void> {
    const worker = new Worker(new URL('./simulation/soak-worker.ts', import.meta.url));
    while (next < seedsMax && performance.now() < endsMs) {
      const order: SoakOrder = { seed: `${seed}-${next}`, profile };
      next += 1;
      const database = await server?.copy();
      worker.postMessage(database === undefined ? order : { ...order, databaseUrl: database.url });
      const [word] = (await once(worker, 'message')) as [SoakWord];
      await database?.drop();
      add(sum, word);
      if (word.outcome !== 'held') say(lineOf(word, options));
      if (performance.now() - saidMs > WORD_EVERY_MS) {
        saidMs = performance.now();
        say(`  ${describe(sum)}`);
      }
    }
    await worker.terminate();
  }

  say(`the simulated fleet, profile ${profile}, seeds ${seed}-0 and on`);
  const server = options.isOnPostgres ? await startRealServer() : null;
  if (server !== null) say(NOT_REPLAYABLE);
  try {
    await Promise.all(Array.from({ length: options.workers }, work));
  } finally {
    await server?.stop();
  }
  say(describe(sum));
  const faults = [...sum.faults].sort().map(([kind, count]) => `${kind} ${count}`);
  say(`accidents: ${faults.join(', ') || 'none'}`);
  for (const line of coverageLines(coverageOf(MACHINES, sum.places, whyUnreachable), true))
    say(line);
  say(`log of all runs: ${hashOf(sum)}`);
  for (const word of sum.failed.slice(0, FAILURES_SHOWN_MAX)) say(lineOf(word, options));
  const codes: number[] = sum.failed.map((one) => EXIT[one.outcome]);
  if (profile === 'nightly' && server === null && !(await findPlanted(say)))
    codes.push(EXIT.safety);
  return codes.length === 0 ? EXIT.held : Math.min(...codes);
}

/**
 * Looks for every planted bug; false when one stayed unseen, which means that a checker sleeps. Beside it stands how many
 * seeds it takes with nothing tuned: the figure that says what a night finds of an accident nobody thought of; and, where
 * ordinary seeds seldom do, how many of the profile that is about it.
 */
async function findPlanted(say: (line: string) => void): Promise<boolean> {
  let areAllFound = true;
  for (const bug of PLANTED) {
    const { first, tried } = await findFirst(bug, PLANTED_TRIES_MAX);
    if (first === null) areAllFound = false;
    const how = first === null ? `NOT FOUND in ${tried} seeds` : `found by seed ${first}`;
    const drawn = await findFirst(bug, PLANTED_TRIES_MAX, 'untuned');
    const chance = drawn.first === null ? `in none of ${drawn.tried}` : `by seed ${drawn.first}`;
    say(`planted ${bug.name}: ${how}, ${chance} as drawn${await underOwn(bug)} (${bug.foundBy})`);
  }
  return areAllFound;
}

async function underOwn(bug: PlantedBug): Promise<string> {
  const profile = profileThatFinds(bug.name);
  if (profile === null) return '';
  const { first, tried } = await findFirst(bug, PLANTED_TRIES_MAX, profile);
  return first === null
    ? `, in none of ${tried} of ${profile}`
    : `, by seed ${first} of ${profile}`;
}

function add(sum: Sum, word: SoakWord): void {
  sum.runs += 1;
  sum.sensorHours += word.sensorHours;
  sum.asleepHours += word.asleepHours;
  sum.steps += word.steps;
  sum.observations += word.observations;
  sum.cpuSeconds += word.cpuSeconds;
  sum.hashes.set(word.seed, word.hash);
  for (const place of word.newPlaces) sum.places.add(place);
  for (const [kind, count] of Object.entries(word.faults)) {
    sum.faults.set(kind, (sum.faults.get(kind) ?? 0) + count);
  }
  if (word.outcome !== 'held') sum.failed.push(word);
}

function describe(sum: Sum): string {
  const rate = Math.round((sum.sensorHours / Math.max(sum.cpuSeconds, 0.001)) * 60);
  const accidents = [...sum.faults.values()].reduce((all, count) => all + count, 0);
  return (
    `${sum.runs} runs, ${sum.failed.length} failed; ${Math.round(sum.sensorHours)} sensor-hours, ` +
    `${Math.round(sum.asleepHours)} of them slept through; ${accidents} accidents, ` +
    `${sum.observations} observations, ${sum.steps} steps; ${Math.round(sum.cpuSeconds)} s of a core, ` +
    `${rate} sensor-hours a minute and core`
  );
}

function lineOf(word: SoakWord, { profile, isOnPostgres }: SoakOptions): string {
  const more = isOnPostgres ? ' --database postgres' : '';
  const detail = word.detail.split('\n').slice(0, 3).join(' ').slice(0, 500);
  return `${word.outcome} at seed ${word.seed}: ${detail}\n  replay: npm run simulate -- --seed ${word.seed} --profile ${profile}${more}`;
}

/** One hash over the logs of all runs, whatever thread ran them. */
function hashOf(sum: Sum): string {
  const all = [...sum.hashes].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}
