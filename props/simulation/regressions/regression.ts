// Failing runs that were kept. A case holds everything its run follows from, so that it stays the same run when the
// drawing of options and plans changes; after the bug is mended it has to hold for ever.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import type { Intervals } from '../../../machines/limits.ts';
import { BASELINE_BINARIES_MAX } from '../../../machines/pipeline-limits.ts';
import type { PlannedFault } from '../faults/kinds.ts';
import { drawOptions, type Options, type Profile } from '../options.ts';
import type { Failing, Failure } from '../shrink.ts';

export type Regression = {
  readonly seed: string;
  readonly profile: Profile;
  /** Every other option of the run; of the intervals those that differ from the product's. */
  readonly options: Partial<Omit<Options, 'seed' | 'profile' | 'intervals'>>;
  readonly intervals: Partial<Intervals>;
  readonly plan: readonly PlannedFault[];
  readonly outcome: Failure['outcome'];
  /** The checker that failed; null for a crash. */
  readonly checker: string | null;
  /** The day it was found. */
  readonly found: string;
  /** What went wrong, in one sentence. */
  readonly story: string;
};

/** What is kept of a failing case. */
export function regressionOf(
  { options, plan }: Failing,
  failure: Failure,
  { story, found }: { readonly story: string; readonly found: string },
): Regression {
  const { seed, profile, intervals, ...rest } = options;
  const changed = Object.entries(intervals).filter(
    ([name, value]) => DEFAULT_INTERVALS[name as keyof Intervals] !== value,
  );
  const { outcome, checker } = failure;
  return {
    seed,
    profile,
    options: rest,
    intervals: Object.fromEntries(changed),
    plan,
    outcome,
    checker,
    found,
    story,
  };
}

/** What cases have that were kept before there was a choice. */
const OF_EARLIER_CASES = {
  ...{
    people: 0,
    keepers: 0,
    wardens: 0,
    publishers: 0,
    receivers: 0,
    programs: 0,
    binariesMax: BASELINE_BINARIES_MAX,
  },
};

/** The run a kept case stands for. */
export function caseOf({ seed, profile, options, intervals, plan }: Regression): Failing {
  return {
    options: {
      ...drawOptions(seed, profile, { ...OF_EARLIER_CASES, ...options }),
      intervals: { ...DEFAULT_INTERVALS, ...intervals },
    },
    plan,
  };
}

/** Writes a case; the name tells what failed and under which seed. */
export function saveRegression(regression: Regression, folder = import.meta.dirname): string {
  const name = `${regression.checker ?? regression.outcome}-${regression.seed}`;
  const path = join(folder, `${name.replace(/[^A-Za-z0-9-]+/g, '-')}.json`);
  writeFileSync(path, `${JSON.stringify(regression, null, 2)}\n`);
  return path;
}

/** Reads one case; throws when the file holds none. */
export function readRegression(path: string): Regression {
  const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (typeof read !== 'object' || read === null) throw new Error(`${path} holds no case`);
  const missing = ['seed', 'profile', 'options', 'plan'].filter((name) => !(name in read));
  if (missing.length > 0) throw new Error(`${path} holds no case: no ${missing.join(', no ')}`);
  return read as Regression;
}

/** All kept cases, by file name. */
export function keptRegressions(
  folder = import.meta.dirname,
): readonly { readonly name: string; readonly regression: Regression }[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      name: basename(file, '.json'),
      regression: readRegression(join(folder, file)),
    }));
}
