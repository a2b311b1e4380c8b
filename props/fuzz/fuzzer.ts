// The search of one target: inputs are made from a pool, run, and join the pool when they reach a block or show a
// feature that no input before them did. Iteration by iteration the same seed and corpus give the same inputs.
import { CORPUS_FILES_MAX, CORPUS_TARGET_MAX_BYTES, keptInputs } from './corpus.ts';
import type { Coverage, Reached } from './coverage.ts';
import { execute, type Finding } from './execute.ts';
import { minimise } from './minimise.ts';
import { nextInput } from './mutate.ts';
import type { FuzzTarget } from './target.ts';

/** Coverage is asked once for so many inputs; when it has grown, each of them is run again alone. */
const BATCH_INPUTS = 64;
const FEATURES_MAX = 1_500;
const FINDINGS_MAX = 20;
const MINIMISE_KEPT_TRIES = 40;
const MINIMISE_FINDING_TRIES = 400;

export type FoundInput = Finding & { readonly iteration: number; readonly bytes: Buffer };
export type Progress = {
  executions: number;
  blocks: number;
  /** Blocks that no seed and no corpus input reached. */
  newBlocks: number;
  pool: number;
  readonly findings: FoundInput[];
};
export type FuzzOptions = {
  readonly seed: string;
  readonly coverage: Coverage;
  /** Asked before every iteration. */
  readonly goesOn: (iteration: number) => boolean;
  /** Hears of every input before it is run, so that one that never ends is known. */
  readonly before: (bytes: Buffer, iteration: number) => void;
  readonly onFinding: (finding: FoundInput) => void;
  readonly onProgress: (progress: Progress) => void;
};
export type FuzzResult = { readonly progress: Progress; readonly pool: readonly Buffer[] };

/** Searches until `goesOn` says no. Never rejects for what a target does. */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzResult> {
  const { coverage } = options;
  const features = new Set<string>();
  const pool: Buffer[] = [];
  const progress: Progress = { executions: 0, blocks: 0, newBlocks: 0, pool: 0, findings: [] };
  const reached = (): Reached => coverage.take(target.modules);
  let iteration = -1;

  /** Runs one input; true when it showed a new feature. */
  async function once(bytes: Buffer, isSearching = true): Promise<boolean> {
    let isNew = false;
    options.before(bytes, iteration);
    const finding = await execute(target, bytes, (feature) => {
      if (features.has(feature) || features.size >= FEATURES_MAX) return;
      features.add(feature);
      isNew = true;
    });
    progress.executions += 1;
    if (finding !== null && isSearching) await report(finding, bytes);
    return isNew && finding === null;
  }

  async function report(finding: Finding, bytes: Buffer): Promise<void> {
    const isKnown = progress.findings.some((one) => one.kind === finding.kind);
    if (isKnown || progress.findings.length >= FINDINGS_MAX) return;
    const shows = async (smaller: Buffer): Promise<boolean> => {
      options.before(smaller, iteration);
      return (await execute(target, smaller))?.kind === finding.kind;
    };
    const tries = finding.kind === 'too slow' ? 0 : MINIMISE_FINDING_TRIES;
    const smallest = await minimise(bytes, shows, tries);
    const found = { ...finding, iteration, bytes: smallest };
    progress.findings.push(found);
    options.onFinding(found);
  }

  /** Runs the batch again, input by input, and keeps those that reach something new. */
  async function attribute(batch: readonly Buffer[], all: Reached): Promise<void> {
    for (const bytes of batch) {
      reached();
      await once(bytes, false);
      const own = reached();
      const stretches = coverage.news(own);
      if (stretches === 0) continue;
      const shows = async (smaller: Buffer): Promise<boolean> => {
        await once(smaller, false);
        return coverage.news(reached()) >= stretches;
      };
      keep(await minimise(bytes, shows, MINIMISE_KEPT_TRIES));
      coverage.absorb(own);
    }
    coverage.absorb(all);
  }

  function keep(bytes: Buffer): void {
    pool.push(bytes);
    progress.pool = pool.length;
  }

  reached();
  for (const bytes of startingInputs(target)) {
    await once(bytes);
    keep(bytes);
  }
  const known = reached();
  progress.blocks = coverage.news(known);
  coverage.absorb(known);

  let batch: Buffer[] = [];
  for (iteration = 0; options.goesOn(iteration); iteration += 1) {
    const bytes = nextInput(target, pool, { seed: options.seed, iteration });
    if (await once(bytes)) keep(bytes);
    batch.push(bytes);
    if (batch.length < BATCH_INPUTS) continue;
    const all = reached();
    const stretches = coverage.news(all);
    progress.newBlocks += stretches;
    if (stretches > 0) await attribute(batch, all);
    reached();
    batch = [];
    options.onProgress(progress);
  }
  return { progress, pool };
}

/** What every search begins with. Crashes stay out: a new one would change what a seed leads to. */
export function startingInputs(target: FuzzTarget): Buffer[] {
  return [...target.seeds(), ...keptInputs('corpus', target.name)];
}

/** Chooses, smallest first, the inputs that together reach and show all that the pool does, within the bounds. */
export async function chooseCorpus(
  target: FuzzTarget,
  pool: readonly Buffer[],
  options: Pick<FuzzOptions, 'coverage' | 'before'>,
): Promise<Buffer[]> {
  const { coverage } = options;
  const features = new Set<string>();
  const chosen: Buffer[] = [];
  let bytesChosen = 0;
  const seeds = target.seeds();
  for (const bytes of [...seeds, ...pool.toSorted((a, b) => a.length - b.length)]) {
    let isNew = false;
    coverage.take(target.modules);
    options.before(bytes, -1);
    await execute(target, bytes, (feature) => {
      isNew ||= !features.has(feature);
      features.add(feature);
    });
    const own = coverage.take(target.modules);
    isNew ||= coverage.news(own) > 0;
    coverage.absorb(own);
    const isRoom =
      chosen.length < CORPUS_FILES_MAX && bytesChosen + bytes.length <= CORPUS_TARGET_MAX_BYTES;
    if (!isNew || !isRoom || seeds.some((seed) => seed.equals(bytes))) continue;
    chosen.push(bytes);
    bytesChosen += bytes.length;
  }
  return chosen;
}
