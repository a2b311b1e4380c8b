// A list of the node as both heartbeat and inventory tell it: sorted and once, named by a hash, and shortened until it
// fits. Both ways shorten it alike, so that what one of them has told is known when the other comes. decision: D49
import { hash } from 'node:crypto';
import { HEARTBEAT_BODY_MAX_BYTES, INVENTORY_BODY_MAX_BYTES } from '../../../machines/limits.ts';
import { WORKLOADS_SECTION_MAX_BYTES } from '../../../machines/pipeline-limits.ts';
import type { InventoryItem } from '../../../machines/wire/inventory.ts';
import { distinctItems, sectionText } from '../../../machines/wire/inventory-text.ts';
import { byTurns, fittingCount, type Listed } from '../../telemetry/shortened.ts';
import { ownerOfSocket, type Sockets } from '../../telemetry/sockets.ts';

export type Section = {
  /** Over the stable fields, and over the whole number when the list was shortened. */
  readonly hash: string;
  /** By their stable texts, which are sorted: the order in which the kernel lists them is no change. */
  readonly items: ReadonlyMap<string, InventoryItem>;
  /** How many there are on the node, when these are not all. */
  readonly total?: number;
};
export type SocketSections = Readonly<Record<'listening_services' | 'connections', Section>>;
type Owned<Item> = { readonly bytesMax: number; ownerOf(item: Item): string };

/** Both lists of a heartbeat; events may take half of its body. */
const SOCKETS_MAX_BYTES = HEARTBEAT_BODY_MAX_BYTES / 4;
/** What both lists of sockets leave of an inventory, but for the rest of its words. */
const PROCESSES_MAX_BYTES = INVENTORY_BODY_MAX_BYTES - SOCKETS_MAX_BYTES - 65_536;

/** The sections of sockets; services take half of the room at most, connections what is left. */
export function socketSections(
  { listening_services: services, connections, totals = {} }: Sockets,
  bytesMax: number = SOCKETS_MAX_BYTES,
): SocketSections {
  const ownerOf = ownerOfSocket;
  const first = { ...listed(services, totals.listening_services) };
  const own = sectionOf(first, { bytesMax: bytesMax / 2, ownerOf });
  const left = bytesMax - Buffer.byteLength(sectionText(own.items));
  const rest = listed(connections, totals.connections);
  return {
    listening_services: own,
    connections: sectionOf(rest, { bytesMax: left, ownerOf }),
  };
}

/** The section of processes, by turns of their programs. */
export function processSection(processes: Listed<InventoryItem>): Section {
  const ownerOf = (item: InventoryItem): string => String(item['command']).split(' ', 1)[0] ?? '';
  return sectionOf(processes, { bytesMax: PROCESSES_MAX_BYTES, ownerOf });
}

/** A section of what containers a node has and runs, by turns of their namespaces. */
export function containersSection(listed: Listed<InventoryItem>): Section {
  const ownerOf = (item: InventoryItem): string => `${item['runtime']} ${item['namespace']}`;
  return sectionOf(listed, { bytesMax: WORKLOADS_SECTION_MAX_BYTES, ownerOf });
}

/** A section of items that fit. */
export function wholeSection(items: readonly InventoryItem[]): Section {
  return sectionOf({ items }, { bytesMax: Number.POSITIVE_INFINITY, ownerOf: () => '' });
}

function listed<Item>(items: readonly Item[], total: number | undefined): Listed<Item> {
  return total === undefined ? { items } : { items, total };
}

function sectionOf<Item extends InventoryItem>(
  { items, total }: Listed<Item>,
  { bytesMax, ownerOf }: Owned<Item>,
): Section {
  const all = distinctItems<Item>(items);
  const texts = [...all.keys()];
  const kept =
    fittingCount(texts, bytesMax) < texts.length ? shortened(all, ownerOf, bytesMax) : all;
  const whole = total ?? (kept.size < all.size ? all.size : undefined);
  const text = sectionText(kept);
  if (whole === undefined) return { hash: hash('sha256', text, 'hex'), items: kept };
  return { hash: hash('sha256', `${text}${whole}`, 'hex'), items: kept, total: whole };
}

function shortened<Item>(
  all: ReadonlyMap<string, Item>,
  ownerOf: (item: Item) => string,
  bytesMax: number,
): ReadonlyMap<string, Item> {
  const entries = byTurns([...all], ([, item]) => ownerOf(item));
  const texts = entries.map(([text]) => text);
  const kept = new Set(texts.slice(0, fittingCount(texts, bytesMax)));
  return new Map([...all].filter(([text]) => kept.has(text)));
}
