// The reference inventory store: the latest content of every section, as JSON text like the real one.
import type { InventoryItem, InventorySectionName } from '../../../machines/wire/inventory.ts';
import type { InventoryStore } from '../../ports/telemetry/inventory-store.ts';
import { createAwaySwitch } from '../plumbing/away-switch.ts';
import { type Calls, portOf } from '../plumbing/unsafe-port-of.ts';

type Section = {
  readonly sensorId: string;
  readonly section: InventorySectionName;
  readonly hash: string;
  readonly itemsText: string;
  readonly nodeTotal: number | null;
  readonly storedAtMs: number;
};
export type MemoryInventory = { readonly inventory: InventoryStore; setAway(away: boolean): void };

/** Makes an empty store on a switch. */
export function createMemoryInventory(): MemoryInventory {
  const { ask, setAway } = createAwaySwitch();
  return { setAway, inventory: portOf<InventoryStore>('inventory', inventoryCalls(), ask) };
}

/** The calls on an empty store. */
export function inventoryCalls(): Calls<InventoryStore> {
  const sections = new Map<string, Section>();
  const keyOf = (sensorId: string, section: string) => JSON.stringify([sensorId, section]);

  function get(sensorId: string, section: InventorySectionName) {
    const own = sections.get(keyOf(sensorId, section));
    if (own === undefined) return null;
    const items = JSON.parse(own.itemsText) as readonly InventoryItem[];
    return { hash: own.hash, items, nodeTotal: own.nodeTotal, storedAtMs: own.storedAtMs };
  }

  function put(input: Parameters<InventoryStore['put']>[0]): void {
    const { sensorId, section, hash, nodeTotal = null, nowMs } = input;
    const itemsText = JSON.stringify(input.items);
    const own = { sensorId, section, hash, itemsText, nodeTotal, storedAtMs: nowMs };
    sections.set(keyOf(sensorId, section), own);
  }

  return {
    loadHashes: () =>
      [...sections.values()].map(({ sensorId, section, hash }) => ({ sensorId, section, hash })),
    hashesOf: (sensorIds) =>
      [...sections.values()]
        .filter(({ sensorId }) => sensorIds.includes(sensorId))
        .map(({ sensorId, section, hash }) => ({ sensorId, section, hash })),
    get,
    put,
  };
}
