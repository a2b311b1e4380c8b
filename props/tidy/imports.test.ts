import { createRequire } from 'node:module';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { describe, expect, it } from 'vitest';
import { ROOT } from './files.ts';

const FOLDERS = ['machines', 'actors', 'gateway', 'storage', 'sensor', 'props'];
const MODULES_MIN = 60;

describe('imports', () => {
  it('should run one way, without cycles, over every module', async () => {
    process.chdir(ROOT);
    const config = createRequire(import.meta.url)('./dependency-cruiser.cjs');
    const { output } = await cruise(FOLDERS, {
      ...config.options,
      validate: true,
      ruleSet: { forbidden: config.forbidden },
    });
    const { summary } = output as ICruiseResult;
    const violations = summary.violations.map(
      ({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`,
    );
    // A parser that understands nothing would find no violation either.
    expect(summary.totalCruised).toBeGreaterThan(MODULES_MIN);
    expect(violations).toEqual([]);
  });
});
