// The inventory section `baselines` on its way into the store of baselines: what changed is written, what is not in the
// section any more is forgotten. It is written before the section's hash is kept, so what fails is sent again.
import type { Baseline } from '../../../machines/wire/baseline.ts';
import type { InventoryItem } from '../../../machines/wire/inventory.ts';
import type { BaselineStore } from '../../../storage/ports/baseline-store.ts';
import { stableTextOf } from './inventory-section.ts';

/** Writes the difference of two contents of the section. Throws EventStoreUnavailable. */
export async function storeBaselines(
  store: Pick<BaselineStore, 'put'>,
  input: {
    readonly sensorId: string;
    readonly before: readonly InventoryItem[];
    /** The wire's schema has read them as baselines. */
    readonly items: readonly InventoryItem[];
    readonly nowMs: number;
  },
): Promise<void> {
  const known = new Set(input.before.map(stableTextOf));
  const baselines = input.items.filter((one) => !known.has(stableTextOf(one))) as Baseline[];
  const kept = new Set(input.items.map(programOf));
  const forgotten = input.before.map(programOf).filter((binary) => !kept.has(binary));
  if (baselines.length + forgotten.length === 0) return;
  const { sensorId, nowMs } = input;
  await store.put({ sensorId, baselines, forgotten: [...new Set(forgotten)], nowMs });
}

function programOf(item: InventoryItem): string {
  return String(item['binary']);
}
