// What of an inventory item is stable: everything but the readings that move by themselves. Both sides name the content of
// a section by the same text, so that a section that a heartbeat has told is known when the inventory tells it again, and
// a process that only used more memory is no change. The text is canonical: neither the order in which the kernel lists
// items nor the order of a database's fields matters, and equal items count once.

const READINGS = new Set([
  'cpu_percent',
  'memory_bytes',
  'memory_percent',
  'rss_bytes',
  'age_seconds',
  'uptime_seconds',
  'last_seen_at',
]);

/** The stable text of one item: its stable fields as JSON, sorted by name at every level. */
export function stableTextOf(item: Readonly<Record<string, unknown>>): string {
  return objectText(item, (name) => !READINGS.has(name));
}

/** The items that differ, by their stable texts and in their order. */
export function distinctItems<Item extends Readonly<Record<string, unknown>>>(
  items: readonly Item[],
): ReadonlyMap<string, Item> {
  const entries = items.map((item): [string, Item] => [stableTextOf(item), item]);
  return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The text whose SHA-256, in hex, is the section's hash. */
export function sectionText(distinct: ReadonlyMap<string, unknown>): string {
  return `[${[...distinct.keys()].join(',')}]`;
}

function objectText(value: object, isKept: (name: string) => boolean): string {
  const fields = Object.entries(value).filter(([name, one]) => one !== undefined && isKept(name));
  const sorted = fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, one]) => `${JSON.stringify(name)}:${textOf(one)}`).join(',')}}`;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (typeof value === 'object' && value !== null) return objectText(value, () => true);
  return JSON.stringify(value) ?? 'null';
}
