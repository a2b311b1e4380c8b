// Makes a failing run smaller while it still fails in the same way: fewer accidents (delta debugging over the plan), a
// shorter time, fewer sensors and Consoles. What is left is what a person has to read. Each try is a whole run, so their
// number is bounded; what was reached by then is the answer.
import type { PlannedFault } from './faults/kinds.ts';
import { lengthMs, type Options } from './options.ts';
import type { PlantedBug } from './planted/planted-bug.ts';
import type { Outcome, RunResult } from './run.ts';

export type Failing = {
  readonly options: Options;
  readonly plan: readonly PlannedFault[];
  readonly bug?: PlantedBug;
};
/** How a run failed: a crash has no checker. */
export type Failure = {
  readonly outcome: Exclude<Outcome, 'held'>;
  readonly checker: string | null;
  readonly atMs: number;
};
export type Shrunk = Omit<Failing, 'bug'> & {
  readonly failure: Failure;
  readonly runs: number;
};
export type ShrinkOptions = {
  /** Tells how a case fails; null when it holds. */
  readonly tryCase: (failing: Failing) => Promise<Failure | null>;
  readonly runsMax?: number;
  readonly onProgress?: (line: string) => void;
};

const RUNS_MAX = 120;
const HOUR_MS = 3_600_000;
/** So much of the run is kept after the violation. */
const AFTER_MS = 1_000;

/** How a run failed; null when it held. */
export function failureOf(result: RunResult): Failure | null {
  if (result.outcome === 'held') return null;
  const [violation] = result.violations;
  if (result.outcome === 'crash' || violation === undefined) {
    return { outcome: result.outcome, checker: null, atMs: result.simulatedMs };
  }
  return { outcome: result.outcome, checker: violation.checker, atMs: violation.atMs };
}

/** Makes the case smaller; null when it does not fail at all. */
export async function shrink(failing: Failing, given: ShrinkOptions): Promise<Shrunk | null> {
  const runsMax = given.runsMax ?? RUNS_MAX;
  const first = await given.tryCase(failing);
  if (first === null) return null;
  let best = failing;
  let failure = first;
  let runs = 1;

  /** Whether the smaller case fails as well; it is the best one then. */
  async function accepts(candidate: Omit<Failing, 'bug'>, what: string): Promise<boolean> {
    if (runs >= runsMax) return false;
    runs += 1;
    const smaller = { ...failing, ...candidate };
    const found = await given.tryCase(smaller);
    if (found?.outcome !== first?.outcome || found?.checker !== first?.checker) return false;
    if (found === null) return false;
    best = smaller;
    failure = found;
    given.onProgress?.(`run ${runs}: ${what}; ${describeSize(best)}`);
    return true;
  }

  let sizeBefore = '';
  while (sizeBefore !== describeSize(best) && runs < runsMax) {
    sizeBefore = describeSize(best);
    await shorten(() => ({ best, failure }), accepts);
    await thinOut(() => best, accepts);
    await lessen('sensors', () => best, accepts);
    await lessen('consoles', () => best, accepts);
  }
  return { options: withKindsOf(best), plan: best.plan, failure, runs };
}

type Accepts = (candidate: Omit<Failing, 'bug'>, what: string) => Promise<boolean>;

/** Ends the accidents just after the violation. What fails after the healing keeps its time, or gets half of it. */
async function shorten(
  now: () => { readonly best: Failing; readonly failure: Failure },
  accepts: Accepts,
): Promise<void> {
  const { best, failure } = now();
  const cutMs = failure.atMs + AFTER_MS;
  if (hoursOf(cutMs) < best.options.hours) {
    await accepts(cutAt(best, cutMs), 'ended just after the violation');
    return;
  }
  const lastMs = best.plan.at(-1)?.atMs ?? 0;
  for (const ms of [lastMs + AFTER_MS, lengthMs(best.options) / 2]) {
    if (hoursOf(ms) < now().best.options.hours && (await accepts(cutAt(best, ms), 'made shorter')))
      return;
  }
}

function cutAt({ options, plan }: Failing, ms: number): Omit<Failing, 'bug'> {
  return {
    options: { ...options, hours: hoursOf(ms) },
    plan: plan.filter((fault) => fault.atMs <= ms),
  };
}

/** Rounded up, so that the moment itself is still inside. */
function hoursOf(ms: number): number {
  return Math.ceil((ms / HOUR_MS) * 10_000) / 10_000;
}

/** Leaves out accidents: all of them, halves, quarters, and so on down to each alone. */
async function thinOut(now: () => Failing, accepts: Accepts): Promise<void> {
  let size = now().plan.length;
  while (size >= 1) {
    let at = 0;
    while (at < now().plan.length) {
      const { options, plan } = now();
      const rest = [...plan.slice(0, at), ...plan.slice(at + size)];
      const isSmaller = await accepts(
        { options, plan: rest },
        `without ${plan.length - rest.length} accidents`,
      );
      if (!isSmaller) at += size;
    }
    size = Math.floor(size / 2);
  }
}

/** Takes away hosts: down to one at once, or one by one. */
async function lessen(
  what: 'sensors' | 'consoles',
  now: () => Failing,
  accepts: Accepts,
): Promise<void> {
  for (;;) {
    const { options, plan } = now();
    const count = options[what];
    if (count <= 1) return;
    let isSmaller = false;
    for (const fewer of new Set([1, Math.ceil(count / 2), count - 1])) {
      isSmaller = await accepts(
        { options: { ...options, [what]: fewer }, plan },
        `${fewer} ${what}`,
      );
      if (isSmaller) break;
    }
    if (!isSmaller) return;
  }
}

/** The kinds that are left in the plan; the plan is given, so they only say what happens. */
function withKindsOf({ options, plan }: Failing): Options {
  const left = new Set(plan.map(({ kind }) => kind));
  return { ...options, kinds: options.kinds.filter((kind) => left.has(kind)) };
}

function describeSize({ options, plan }: Failing): string {
  const { sensors, consoles, hours } = options;
  return `${plan.length} accidents, ${sensors} sensors, ${consoles} consoles, ${hours} h`;
}
