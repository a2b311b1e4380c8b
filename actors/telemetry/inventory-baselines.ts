// The inventory section `baselines` on its way into the store of baselines: what changed is written, what is not in the
// section any more is forgotten. It is compared with what that store holds, not with the section kept beside it: an
// attempt that reached only one of the two, or that another Console made, leaves nothing behind. It is written before the
// section's hash is kept, so what fails is sent again. invariant: I10
import { INVENTORY_ITEMS_MAX } from '../../machines/limits.ts';
import type { Baseline } from '../../machines/wire/baseline.ts';
import type { InventoryItem } from '../../machines/wire/inventory.ts';
import { stableTextOf } from '../../machines/wire/inventory-text.ts';
import type { BaselineStore } from '../../storage/ports/telemetry/baseline-store.ts';

/**
 * Writes the difference to what is stored. Answers the time of the section: not before any row's, also of one that is
 * forgotten, since the next rows have to be later than all of them. Throws EventStoreUnavailable.
 */
export async function storeBaselines(
  store: Pick<BaselineStore, 'put' | 'baselinesOf'>,
  input: {
    readonly sensorId: string;
    /** The wire's schema has read them as baselines. */
    readonly items: readonly InventoryItem[];
    /** When the section was kept last; null when it never was. */
    readonly keptAtMs: number | null;
    readonly nowMs: number;
  },
): Promise<number> {
  const { sensorId } = input;
  const items = input.items as readonly Baseline[];
  const before = await store.baselinesOf({
    ...{ sensorId, limit: INVENTORY_ITEMS_MAX, afterBinary: null },
  });
  const known = new Set(before.map(textOf));
  const baselines = items.filter((one) => !known.has(textOf(one)));
  const kept = new Set(items.map(({ binary }) => binary.toWellFormed()));
  const forgotten = before.map(({ binary }) => binary).filter((binary) => !kept.has(binary));
  // The newest row of a program counts; a clock that was ahead when the one before was written must not keep it.
  const latestMs = before.reduce((ms, one) => Math.max(ms, one.storedAtMs), input.keptAtMs ?? 0);
  const nowMs = Math.max(input.nowMs, latestMs + 1);
  if (baselines.length + forgotten.length > 0) {
    await store.put({ sensorId, baselines, forgotten, nowMs });
  }
  return nowMs;
}

/** What a row holds of a baseline. */
function textOf(one: Baseline): string {
  const { binary, executions, is_warm, learned_since, updated_at } = one;
  const { children, files, destinations, users, hours } = one;
  return stableTextOf({
    ...{ binary, executions, is_warm, learned_since, updated_at },
    ...{ children, files, destinations, users, hours },
  });
}
