import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CORPUS_FILES_MAX, keptInputs } from './corpus.ts';
import { execute } from './execute.ts';
import { startingInputs } from './fuzzer.ts';
import { nextInput } from './mutate.ts';
import { loadTarget, TARGET_NAMES } from './targets.ts';

const SEED = 'pinned';
const SHOWN_MAX = 3;
const MUTATIONS = 100;
const CORPUS_MAX_BYTES = 1_000_000;

describe('fuzz targets', () => {
  it.each(TARGET_NAMES)(
    '%s should keep its promises on its corpus and on fresh mutations',
    async (name) => {
      const target = await loadTarget(name);
      expect(target.name).toBe(name);
      const pool = startingInputs(target);
      const broken: string[] = [];
      const run = async (bytes: Buffer, which: string): Promise<void> => {
        const finding = await execute(target, bytes);
        if (finding !== null) broken.push(`${which}: ${finding.kind}: ${finding.detail}`);
      };
      const kept = [...pool, ...keptInputs('crashes', name)];
      for (const [at, bytes] of kept.entries()) await run(bytes, `kept input ${at}`);
      for (let iteration = 0; iteration < MUTATIONS; iteration += 1) {
        const bytes = nextInput(target, pool, { seed: SEED, iteration });
        await run(bytes, `iteration ${iteration} (${bytes.toString('base64').slice(0, 400)})`);
      }
      expect(broken.slice(0, SHOWN_MAX)).toEqual([]);
    },
  );

  it('should keep a corpus for known targets only, within its bounds', () => {
    const folder = join(import.meta.dirname, 'corpus');
    const names: readonly string[] = TARGET_NAMES;
    expect(readdirSync(folder).filter((name) => !names.includes(name))).toEqual([]);
    const counts = names.map((name) => keptInputs('corpus', name).length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(CORPUS_FILES_MAX);
    const bytes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => statSync(join(folder, name)))
      .reduce((sum, facts) => sum + (facts.isFile() ? facts.size : 0), 0);
    expect(bytes).toBeLessThan(CORPUS_MAX_BYTES);
  });
});
