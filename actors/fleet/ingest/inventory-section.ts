// What of an inventory item is stable: everything but the readings that move by themselves. Two items are the same when
// their stable text is the same, so that a process that only used more memory is no change.
import { hash } from 'node:crypto';
import { INVENTORY_ITEMS_MAX } from '../../../machines/limits.ts';
import type { HeartbeatRequest } from '../../../machines/wire/heartbeat.ts';
import type { InventoryItem, InventorySection } from '../../../machines/wire/inventory.ts';

const READINGS = new Set([
  'cpu_percent',
  'memory_bytes',
  'memory_percent',
  'rss_bytes',
  'age_seconds',
  'uptime_seconds',
  'last_seen_at',
]);

/** The stable text of one item: its stable fields, sorted by name. */
export function stableTextOf(item: Readonly<Record<string, unknown>>): string {
  const stable = Object.keys(item)
    .filter((name) => !READINGS.has(name))
    .sort();
  return JSON.stringify(stable.map((name) => [name, item[name]]));
}

export type Endpoint =
  | NonNullable<HeartbeatRequest['connections']>[number]
  | NonNullable<HeartbeatRequest['listening_services']>[number];

/** The hash of what a heartbeat reports of its sockets, whatever their order; on the hot path, so without JSON. */
export function endpointsHashOf(endpoints: readonly Endpoint[]): string {
  const texts = endpoints.map((one) =>
    'remote_ip' in one
      ? `${one.protocol} ${one.local_ip} ${one.local_port} ${one.remote_ip} ${one.remote_port} ${one.state} ${one.pid ?? ''} ${one.binary ?? ''}`
      : `${one.protocol} ${one.ip} ${one.port} ${one.pid ?? ''} ${one.binary ?? ''}`,
  );
  return hash('sha256', texts.sort().join('\n'), 'hex');
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
