// What is promised of a list that a node's neighbours tell: it is bounded, and the Console takes it as it is.
import { INVENTORY_BODY_MAX_BYTES } from '../../machines/limits.ts';
import {
  type InventoryItem,
  InventoryRequest,
  type InventorySectionName,
} from '../../machines/wire/inventory.ts';
import { parserOf } from '../../machines/wire/parse.ts';
import { containersSection } from '../../sensor/capabilities/telemetry/section.ts';
import type { Listed } from '../../sensor/telemetry/shortened.ts';
import { demand, demandSame } from './target.ts';

const read = parserOf(InventoryRequest);
const TEXT_MAX_CHARS = 512;

/** Answers the items as the Console would read them. Throws when a promise is broken. */
export function demandSection(
  name: InventorySectionName,
  listed: Listed<InventoryItem>,
  itemsMax: number,
): readonly InventoryItem[] {
  demand(listed.items.length <= itemsMax, 'there are too many items');
  demand((listed.total ?? itemsMax) >= listed.items.length, 'the total is less than what is told');
  for (const item of listed.items) for (const value of Object.values(item)) demandBounded(value);
  const { hash, items, total } = containersSection(listed);
  const section = { hash, items: [...items.values()], ...(total === undefined ? {} : { total }) };
  const body = JSON.stringify({ is_full_snapshot: false, sections: { [name]: section } });
  demand(Buffer.byteLength(body) <= INVENTORY_BODY_MAX_BYTES, 'the body is too long');
  const taken = read(body);
  demand(taken.ok, `the Console refuses it: ${JSON.stringify(taken).slice(0, 300)}`);
  const kept = taken.value.sections[name]?.items ?? [];
  demandSame(kept, section.items, 'the Console reads it otherwise');
  return kept;
}

function demandBounded(value: unknown): void {
  if (Array.isArray(value)) {
    demand(value.length <= 32, 'a list is too long');
    for (const one of value) demandBounded(one);
  } else if (typeof value === 'string') {
    demand(value.length <= TEXT_MAX_CHARS && value.isWellFormed(), 'a text is too long or torn');
  } else demand(value === true || Number.isSafeInteger(value), 'a value is of no known kind');
}
