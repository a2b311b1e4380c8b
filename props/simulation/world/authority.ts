// The roots of the Consoles' authority as their data directory holds them. People change them as the command does, in three
// steps, while no Console runs: a second root stands beside the first, then it signs, then the first goes. decision: D70, D173
import { WORLD_CA } from './certificates.ts';
import type { RootStep } from './copy-observation.ts';
import type { World } from './world.ts';

export type Authority = {
  /** The one that signs comes first. */
  roots(): readonly string[];
  /** Does the next step. */
  step(): void;
  /** Whether a change has begun and is not over. */
  isChanging(): boolean;
};

/** Makes an authority with one root. */
export function createAuthority(world: World): Authority {
  let roots: readonly string[] = [WORLD_CA];
  let made = 1;
  let last: RootStep = 'retired';

  function next(): RootStep {
    const [signing = WORLD_CA, other] = roots;
    if (last === 'retired') {
      made += 1;
      roots = [signing, `${WORLD_CA} ${made}`];
      return 'prepared';
    }
    if (last === 'prepared' && other !== undefined) {
      roots = [other, signing];
      return 'activated';
    }
    roots = [signing];
    return 'retired';
  }

  return {
    roots: () => roots,
    step() {
      last = next();
      world.observe({ kind: 'roots.changed', step: last, roots });
    },
    isChanging: () => last !== 'retired',
  };
}
