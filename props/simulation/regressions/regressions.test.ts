// Every failing run that was kept holds now: a mended bug stays mended. The slow ones run in `regressions.services.test.ts`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { drawPlan } from '../faults/plan.ts';
import { drawOptions } from '../options.ts';
import { caseOf, keptRegressions, regressionOf, saveRegression } from './regression.ts';
import { describeCases, SLOW } from './regressions-suite.ts';

const folder = mkdtempSync(join(tmpdir(), 'regressions-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('kept regressions', () => {
  describeCases((name) => !SLOW.has(name));

  it('should all be there of those that are called slow', () => {
    const names = new Set(keptRegressions().map(({ name }) => name));
    expect([...SLOW].filter((name) => !names.has(name))).toEqual([]);
  });

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
