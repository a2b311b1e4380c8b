// What is known of builds of the engine that were tried and did not take over, across restarts of the Sensor. A trial is
// noted before it begins, with what is started in its place, so that whatever ends the Sensor meanwhile, the next one
// begins with an engine that ran. decision: D50

import type { EngineBuild, EngineRefusal } from './engine.rules.ts';
import { ENGINE_TRIALS_MAX } from './engine-limits.ts';

/** A file where it was laid out, and the SHA-256 it has to have. */
export type LaidOutFile = { readonly name: string; readonly sum: string };
/** What ran, or lay ready, before. */
export type KeptEngine = { readonly build: EngineBuild; readonly files: readonly LaidOutFile[] };
export type EngineTrial = {
  readonly build: EngineBuild;
  /** Why it was refused; null while nothing is decided. */
  readonly reason: string | null;
  readonly trials: number;
  /** What is started in its place; null = an engine of another kind. */
  readonly kept: KeptEngine | null;
};

/** This build is about to be tried, maybe again. */
export function beginTrial(
  before: EngineTrial | undefined,
  build: EngineBuild,
  kept: KeptEngine | null,
): EngineTrial {
  const trials = before?.build.sum === build.sum ? before.trials : 0;
  return { build, reason: null, trials: trials + 1, kept };
}

/**
 * Whether and why it is not tried any more. One that was begun and never decided is repeated: the Sensor may have ended
 * for another reason. But not for ever, since it may have been the reason.
 */
export function refusalOf(trial: EngineTrial): EngineRefusal | null {
  const { build, trials } = trial;
  if (trial.reason !== null) return { build, reason: trial.reason };
  if (trials < ENGINE_TRIALS_MAX) return null;
  return { build, reason: `it was tried ${trials} times, and never to the end` };
}
