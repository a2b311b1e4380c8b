import { describe, expect, it } from 'vitest';
import { storeBaselines } from './inventory-baselines.ts';

const item = (binary: string, executions = 1) => ({ binary, executions, children: [] });

async function written(before: readonly object[], items: readonly object[]) {
  const puts: { readonly baselines: readonly object[]; readonly forgotten: readonly string[] }[] =
    [];
  const store = { put: async (input: (typeof puts)[number]) => void puts.push(input) };
  await storeBaselines(store as never, {
    ...{ sensorId: 's', nowMs: 1, before: before as never, items: items as never },
  });
  return puts.map(({ baselines, forgotten }) => ({ baselines, forgotten }));
}

describe('baselines of the inventory', () => {
  it('should write what changed and forget what is gone', async () => {
    const before = [item('/a'), item('/b'), item('/c')];
    const after = [item('/a'), item('/b', 2), item('/d')];
    expect(await written(before, after)).toEqual([
      { baselines: [item('/b', 2), item('/d')], forgotten: ['/c'] },
    ]);
  });

  it('should write nothing when nothing changed', async () => {
    expect(await written([item('/a')], [item('/a')])).toEqual([]);
  });
});
