// One worker of a soak: runs the seeds it is given, one after the other, and tells what became of each.
import { parentPort } from 'node:worker_threads';
import { beginCoverage } from './coverage.ts';
import { drawOptions, type Profile } from './options.ts';
import { type Outcome, runSimulation } from './run.ts';
import { MACHINES } from './unreachable.ts';

export type SoakOrder = {
  readonly seed: string;
  readonly profile: Profile;
  /** Of an empty database; absent: the simulated one answers. */
  readonly databaseUrl?: string;
};
export type SoakWord = {
  readonly seed: string;
  readonly outcome: Outcome;
  readonly detail: string;
  readonly hash: string;
  readonly sensorHours: number;
  readonly asleepHours: number;
  readonly steps: number;
  readonly observations: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly cpuSeconds: number;
  /** Places of the machines that this worker had not visited before. */
  readonly newPlaces: readonly string[];
};

if (parentPort !== null) {
  const port = parentPort;
  port.on('message', (order: SoakOrder) => {
    void run(order).then((word) => port.postMessage(word));
  });
}

const visited = new Set<string>();

async function run({ seed, profile, ...more }: SoakOrder): Promise<SoakWord> {
  const options = drawOptions(seed, profile);
  const began = process.threadCpuUsage();
  const visits = beginCoverage(MACHINES);
  const result = await runSimulation(options, more);
  const { user, system } = process.threadCpuUsage(began);
  const [crash] = result.crashes;
  const [violation] = result.violations;
  const newPlaces = [...visits].filter((place) => !visited.has(place));
  for (const place of newPlaces) visited.add(place);
  const asleepMs = result.fleet.world.scheduler.sleptMs();
  return {
    seed,
    outcome: result.outcome,
    detail: crash ?? (violation === undefined ? '' : `${violation.checker}: ${violation.detail}`),
    hash: result.hash,
    sensorHours: result.sensorHours,
    asleepHours: (options.sensors * asleepMs) / 3_600_000,
    steps: result.steps,
    observations: Object.values(result.observations).reduce((sum, count) => sum + count, 0),
    faults: result.faults,
    cpuSeconds: (user + system) / 1_000_000,
    newPlaces,
  };
}
