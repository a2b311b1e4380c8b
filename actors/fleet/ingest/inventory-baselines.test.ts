import { describe, expect, it } from 'vitest';
import { storeBaselines } from './inventory-baselines.ts';

const NOW_MS = 1_000;
const item = (binary: string, executions = 1) => ({ binary, executions, children: [] });

/** What is put when the store holds one set of programs and the section brings another. */
async function written(
  before: readonly object[],
  items: readonly object[],
  more: { readonly storedAtMs?: number; readonly keptAtMs?: number } = {},
) {
  const puts: object[] = [];
  const { storedAtMs = 1, keptAtMs = null } = more;
  const store = {
    put: async (input: { readonly sensorId: string }) => {
      const { sensorId: _, ...rest } = input;
      puts.push(rest);
    },
    baselinesOf: async () => before.map((one) => ({ ...one, storedAtMs })),
  };
  await storeBaselines(store as never, {
    ...{ sensorId: 's', nowMs: NOW_MS, keptAtMs, items: items as never },
  });
  return puts;
}

describe('baselines of the inventory', () => {
  it('should write what changed and forget what is gone', async () => {
    const before = [item('/a'), item('/b'), item('/c')];
    const after = [item('/a'), item('/b', 2), item('/d')];
    expect(await written(before, after)).toEqual([
      { baselines: [item('/b', 2), item('/d')], forgotten: ['/c'], nowMs: NOW_MS },
    ]);
  });

  it('should write nothing when nothing changed', async () => {
    expect(await written([item('/a')], [item('/a')])).toEqual([]);
  });

  it('should write behind what was written while a clock was ahead', async () => {
    const [before, after] = [[item('/a')], [item('/a', 2)]];
    const ahead = NOW_MS + 60_000;
    expect(await written(before, after, { storedAtMs: ahead })).toMatchObject([
      { nowMs: ahead + 1 },
    ]);
    expect(await written([], after, { keptAtMs: ahead })).toMatchObject([{ nowMs: ahead + 1 }]);
  });
});
