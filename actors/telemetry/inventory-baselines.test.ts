import { describe, expect, it } from 'vitest';
import { baselineCalls } from '../../storage/memory/telemetry/baseline-rows.ts';
import { createMemoryInventory } from '../../storage/memory/telemetry/inventory-store.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createInventory } from './inventory.ts';
import { storeBaselines } from './inventory-baselines.ts';

const NOW_MS = 1_000;
const item = (binary: string, executions = 1) => ({ binary, executions, children: [] });
const NEVER = '2026-01-01T00:00:00.000Z';
const habitsOf = (binary: string) => ({
  ...{ binary, executions: 1, is_warm: false, learned_since: NEVER, updated_at: NEVER },
  ...{ children: [], files: [], destinations: [], users: [] },
  hours: Array.from({ length: 24 }, () => 0),
});

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

  function told() {
    const rows = baselineCalls({ batches: () => [] });
    const begin = () =>
      createInventory({
        store: createMemoryInventory().inventory,
        baselines: {
          put: async (input) => rows.put(input),
          baselinesOf: async (input) => rows.baselinesOf(input),
        },
        ...{ platform: 'standard', logger: silentLogger },
      });
    let inventory = begin();
    return {
      rows,
      /** PostgreSQL is as it was before anything was told. */
      forget() {
        inventory = begin();
      },
      tell: (hash: string, binaries: readonly string[], nowMs: number) => {
        const sections = { baselines: { hash, items: binaries.map(habitsOf) } };
        return inventory.receive('s', { is_full_snapshot: true, sections }, nowMs);
      },
    };
  }

  it('should be gone when a node tells that it has none, also where PostgreSQL went back', async () => {
    const { rows, forget, tell } = told();
    const held = async () => rows.baselinesOf({ sensorId: 's', limit: 9, afterBinary: null });
    await tell('a', ['/a'], 1_000);
    forget();
    await tell('none', [], 2_000);
    expect(await held()).toEqual([]);

    // It knows that there were none, and what came later is in the other store alone.
    rows.put({ sensorId: 's', baselines: [habitsOf('/b')], forgotten: [], nowMs: 3_000 });
    await tell('none', [], 4_000);
    expect(await held()).toEqual([]);
  });

  it('should hold what is told after everything was forgotten and a clock went back', async () => {
    const { rows, tell } = told();
    await tell('a', ['/a', '/b'], 3_600_000);
    await tell('b', [], 1_000);
    await tell('c', ['/a', '/b'], 2_000);
    const held = await rows.baselinesOf({ sensorId: 's', limit: 9, afterBinary: null });
    expect(held.map(({ binary }) => binary)).toEqual(['/a', '/b']);
  });
});
