// How soon chance finds a planted bug: runs seed after seed with it and without anything else changed.
import type { Options } from '../options.ts';
import { type RunResult, runSimulation } from '../run.ts';
import type { PlantedBug } from './planted-bug.ts';

export type Found = {
  readonly tried: number;
  /** Seeds whose first violation came from the named checker. */
  readonly found: number;
  readonly first: string | null;
  /** What other seeds ended with, for one who tunes the options. */
  readonly others: Readonly<Record<string, number>>;
};

/** The options of a seed under which the bug can show. */
export function optionsFor(bug: PlantedBug, seed: string): Options {
  return { ...bug.options, seed, profile: 'smoke' };
}

/** Whether the run was ended by the checker that must notice, and by no other. */
export function isFound(bug: PlantedBug, { outcome, violations }: RunResult): boolean {
  const kind = bug.foundBy === 'liveness' ? 'liveness' : 'safety';
  return outcome === kind && violations[0]?.checker === bug.foundBy;
}

/** Runs `count` seeds from the number `from` on. */
export async function findSeeds(bug: PlantedBug, from: number, count: number): Promise<Found> {
  const others: Record<string, number> = {};
  let found = 0;
  let first: string | null = null;
  for (let at = from; at < from + count; at += 1) {
    const seed = String(at);
    const result = await runSimulation(optionsFor(bug, seed), { bug });
    if (isFound(bug, result)) {
      found += 1;
      first ??= seed;
      continue;
    }
    const [violation] = result.violations;
    const name = violation === undefined ? result.outcome : `${violation.checker}`;
    others[name] = (others[name] ?? 0) + 1;
  }
  return { tried: count, found, first, others };
}
