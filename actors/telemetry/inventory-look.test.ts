import { expect, it } from 'vitest';
import { INVENTORY_LOOK_MS } from '../../machines/limits.ts';
import { createMemoryInventory } from '../../storage/memory/telemetry/inventory-store.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createInventory } from './inventory.ts';

const NO_BASELINES = { put: async () => undefined, baselinesOf: async () => [] };
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 8; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};
const service = (port: number) => ({ protocol: 'tcp', ip: '0.0.0.0', port });
const told = (...ports: number[]) => ({ items: ports.map(service), hash: `h${ports.join()}` });

async function twoConsoles() {
  const { inventory: store } = createMemoryInventory();
  const refreshed: string[] = [];
  const start = async () => {
    const deps = { store, baselines: NO_BASELINES, logger: silentLogger };
    const refresh = (id: string) => void refreshed.push(id);
    const own = createInventory({ ...deps, platform: 'standard', refresh });
    await own.load();
    return own;
  };
  return { store, refreshed, one: await start(), other: await start() };
}

it('should write what a node has when another Console wrote what it had in between', async () => {
  const { store, refreshed, one, other } = await twoConsoles();
  one.observe('s', 'listening_services', told(1), 0);
  await turns();
  other.observe('s', 'listening_services', told(2), 1_000);
  await turns();
  const beats = [0, 1, 2].map((beat) => INVENTORY_LOOK_MS + beat * 15_000);
  for (const nowMs of beats) {
    one.observe('s', 'listening_services', told(1), nowMs);
    await turns();
  }
  expect((await store.get('s', 'listening_services'))?.hash).toBe('h1');
  expect(one.storedSections('s')).toEqual({ listening_services: 'h1' });
  // The node was asked at once, once, for whatever else it would tell only later.
  expect(refreshed).toEqual(['s']);
});

it('should write that there is nothing when only another Console knows of something', async () => {
  const { store, one, other } = await twoConsoles();
  one.observe('s', 'listening_services', told(), 0);
  other.observe('s', 'listening_services', told(2), 1_000);
  await turns();
  for (const nowMs of [0, 1, 2].map((beat) => INVENTORY_LOOK_MS + beat * 15_000)) {
    one.observe('s', 'listening_services', told(), nowMs);
    await turns();
  }
  expect((await store.get('s', 'listening_services'))?.items).toEqual([]);
});

it('should look at nothing while what it remembers is young, and then once for many', async () => {
  const { inventory } = createMemoryInventory();
  const asked: (readonly string[])[] = [];
  const store = {
    ...inventory,
    hashesOf: async (ids: readonly string[]) => {
      asked.push(ids);
      return [];
    },
  };
  const deps = { store, baselines: NO_BASELINES, logger: silentLogger };
  const own = createInventory({ ...deps, platform: 'standard' });
  const sensors = Array.from({ length: 20 }, (_, at) => `s${at}`);
  const beat = (nowMs: number): void => {
    for (const id of sensors) own.observe(id, 'connections', told(), nowMs);
  };
  for (const nowMs of [0, 15_000, INVENTORY_LOOK_MS - 1]) beat(nowMs);
  expect(asked).toEqual([]);
  beat(INVENTORY_LOOK_MS);
  beat(INVENTORY_LOOK_MS + 15_000);
  await turns();
  expect(asked).toEqual([sensors]);
});
