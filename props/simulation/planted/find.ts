// How soon chance finds a planted bug: runs seed after seed with it and without anything else changed.
import { drawOptions, type Options, type Profile } from '../options.ts';
import { type RunResult, runSimulation } from '../run.ts';
import { drawByTurns } from '../turns.ts';
import type { PlantedBug } from './planted-bug.ts';

export type Found = {
  readonly tried: number;
  /** The first seed whose run the named checker ended; null when there was none. */
  readonly first: string | null;
  /** What other seeds ended with, for one who tunes the options. */
  readonly others: Readonly<Record<string, number>>;
};

/**
 * Tuned: with the options that the bug has, so that it shows soon. Untuned: drawn as any seed is, under the ordinary profiles
 * by turns. A profile: drawn under that one.
 */
export type Drawn = 'tuned' | 'untuned' | Profile;
/** What untuned seeds are drawn for, one after the other. */
const BY_TURNS = ['smoke', 'deliveries', 'nightly'] as const;

/** The options of a seed under which the bug can show. */
export function optionsFor(bug: PlantedBug, seed: string, drawn: Drawn = 'tuned'): Options {
  if (drawn === 'tuned') return { ...bug.options, seed, profile: 'smoke' };
  return drawn === 'untuned' ? drawByTurns(Number(seed), BY_TURNS) : drawOptions(seed, drawn);
}

/** Whether the run was ended by the checker that must notice, and by no other. */
export function isFound(bug: PlantedBug, { outcome, violations }: RunResult): boolean {
  const kind = bug.foundBy === 'liveness' ? 'liveness' : 'safety';
  return outcome === kind && violations[0]?.checker === bug.foundBy;
}

/** What a run ended with: a checker, or its outcome. */
export function endOf({ outcome, violations, crashes }: RunResult): string {
  return crashes.length > 0 ? 'crash' : (violations[0]?.checker ?? outcome);
}

/** Runs seeds from the number 1 on until one finds the bug, at most `triesMax`. */
export async function findFirst(
  bug: PlantedBug,
  triesMax: number,
  drawn: Drawn = 'tuned',
): Promise<Found> {
  const others: Record<string, number> = {};
  let tried = 0;
  let first: string | null = null;
  for (let at = 1; at <= triesMax && first === null; at += 1) {
    tried = at;
    const seed = String(at);
    const result = await runSimulation(optionsFor(bug, seed, drawn), { bug });
    if (isFound(bug, result)) {
      first = seed;
      continue;
    }
    const name = endOf(result);
    others[name] = (others[name] ?? 0) + 1;
  }
  return { tried, first, others };
}
