// The other half of the canary: the run that finds a planted bug holds without it, so that the bug alone is what was found.
import { describe, expect, it } from 'vitest';
import { runSimulation } from '../run.ts';
import { shareOf } from '../share.ts';
import { PLANTED } from './all.ts';
import { optionsFor } from './find.ts';

/** For a machine that is busy with other things; the longest takes some ten seconds of a core. */
const PATIENCE_MS = 600_000;

describe('runs of planted bugs, without the bug', () => {
  for (const bug of shareOf(PLANTED)) {
    it(`should hold: ${bug.name}`, { timeout: PATIENCE_MS }, async () => {
      const { crashes, outcome, violations } = await runSimulation(optionsFor(bug, bug.pinnedSeed));

      expect({ crashes, outcome, violations }).toEqual({
        crashes: [],
        outcome: 'held',
        violations: [],
      });
    });
  }
});
