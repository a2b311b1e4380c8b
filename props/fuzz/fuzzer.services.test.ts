import { describe, expect, it } from 'vitest';
import type { Coverage } from './coverage.ts';
import { execute } from './execute.ts';
import { type FoundInput, fuzz } from './fuzzer.ts';
import type { FuzzTarget } from './target.ts';

const WORD = Buffer.from('bug');
const ITERATIONS_MAX = 60_000;
const noCoverage: Coverage = { take: () => new Map(), news: () => 0, absorb: () => undefined };

/** Breaks on one word, and tells how much of it was right: without that nobody would guess it. */
const canary: FuzzTarget = {
  name: 'canary',
  modules: [],
  form: 'bytes',
  seeds: () => [Buffer.from('nothing of interest')],
  run(bytes, note) {
    let right = 0;
    while (right < WORD.length && bytes[right] === WORD[right]) right += 1;
    note(`${right} right`);
    if (right === WORD.length) throw new TypeError('the planted bug');
  },
};
const quiet = { ...canary, run: () => undefined };

async function search(target: FuzzTarget, seed: string): Promise<FoundInput[]> {
  const found: FoundInput[] = [];
  await fuzz(target, {
    seed,
    coverage: noCoverage,
    goesOn: (iteration) => found.length === 0 && iteration < ITERATIONS_MAX,
    before: () => undefined,
    onFinding: (finding) => found.push(finding),
    onProgress: () => undefined,
  });
  return found;
}

describe('the search', () => {
  it('should find a planted bug, make its input small, and find it again by the same seed', async () => {
    const [first] = await search(canary, 'one');
    expect(first?.kind).toContain('the planted bug');
    expect(first?.bytes.equals(WORD)).toBe(true);
    const [second] = await search(canary, 'one');
    expect(second?.iteration).toBe(first?.iteration);
  });

  it('should tell a changed input, a polluted prototype and slowness', async () => {
    const kindOf = async (run: FuzzTarget['run']) =>
      (await execute({ ...quiet, run }, Buffer.from('abc')))?.kind;
    expect(await kindOf(() => undefined)).toBeUndefined();
    expect(await kindOf((bytes) => void bytes.fill(0))).toBe('the input was changed');
    const pollute = () => void Reflect.set(Object.prototype, 'polluted', 1);
    expect(await kindOf(pollute)).toContain('polluted');
    expect('polluted' in {}).toBe(false);
    const slow = () => {
      const { user } = process.threadCpuUsage();
      while (process.threadCpuUsage().user - user < 300_000);
    };
    expect(await kindOf(slow)).toBe('too slow');
  });
});
