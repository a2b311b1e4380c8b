// A section of an inventory as the Console keeps it: what a heartbeat tells of sockets under the name the inventory would
// have for it, and a delta on what is stored.
import { hash } from 'node:crypto';
import { INVENTORY_ITEMS_MAX } from '../../machines/limits.ts';
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import type { InventoryItem, InventorySection } from '../../machines/wire/inventory.ts';
import { distinctItems, sectionText, stableTextOf } from '../../machines/wire/inventory-text.ts';

export type Endpoint =
  | NonNullable<HeartbeatRequest['connections']>[number]
  | NonNullable<HeartbeatRequest['listening_services']>[number];

/** A section's content as its Sensor would name it. */
export function contentOf<Item extends Readonly<Record<string, unknown>>>(
  items: readonly Item[],
): { readonly hash: string; readonly items: readonly Item[] } {
  const distinct = distinctItems(items);
  return { hash: hash('sha256', sectionText(distinct), 'hex'), items: [...distinct.values()] };
}

/** Applies a delta to a base; null when what it removes is not there or the result is too large. */
export function applyDelta(
  base: readonly InventoryItem[],
  delta: Extract<InventorySection, { base_hash: string }>,
): readonly InventoryItem[] | null {
  const removed = new Map<string, number>();
  for (const item of delta.removed) {
    const text = stableTextOf(item);
    removed.set(text, (removed.get(text) ?? 0) + 1);
  }
  const kept = base.filter((item) => {
    if (removed.size === 0) return true;
    const text = stableTextOf(item);
    const left = removed.get(text) ?? 0;
    if (left === 0) return true;
    if (left === 1) removed.delete(text);
    else removed.set(text, left - 1);
    return false;
  });
  if (removed.size > 0 || kept.length + delta.added.length > INVENTORY_ITEMS_MAX) return null;
  return [...kept, ...delta.added];
}
