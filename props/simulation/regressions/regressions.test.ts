// Every failing run that was kept holds now: a mended bug stays mended.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { drawPlan } from '../faults/plan.ts';
import { drawOptions } from '../options.ts';
import { runSimulation } from '../run.ts';
import { caseOf, keptRegressions, regressionOf, saveRegression } from './regression.ts';

const folder = mkdtempSync(join(tmpdir(), 'regressions-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('kept regressions', () => {
  for (const { name, regression } of keptRegressions()) {
    it(`should hold: ${name} (${regression.story})`, async () => {
      const { options, plan } = caseOf(regression);
      const { crashes, violations } = await runSimulation(options, { plan });
      expect({ crashes, violations }).toEqual({ crashes: [], violations: [] });
    });
  }

  it('should come back from their file as the run they were', () => {
    const options = drawOptions('11', 'smoke', { sensors: 3 });
    const plan = drawPlan(options);
    const failure = { outcome: 'safety', checker: 'token used once', atMs: 7 } as const;
    const story = 'a token was used twice';
    const kept = regressionOf({ options, plan }, failure, { story, found: '2026-01-01' });
    expect(saveRegression(kept, folder)).toBe(join(folder, 'token-used-once-11.json'));
    const [read] = keptRegressions(folder);
    expect(read?.regression).toEqual(kept);
    expect(read === undefined ? null : caseOf(read.regression)).toEqual({ options, plan });
  });
});
