// Inventory: sections that are stored only when their hash changes, whole or as a delta on a known base.
import Type, { type TSchema } from 'typebox';
import { INVENTORY_ITEMS_MAX } from '../limits.ts';
import { Baseline } from './baseline.ts';
import { Count, NamedBy } from './scalars.ts';

export const INVENTORY_SECTIONS = [
  'processes',
  'connections',
  'listening_services',
  'container_images',
  'kubernetes',
  'packages',
  'baselines',
  'telecom',
] as const;
export const SectionHash = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Item = NamedBy(128, Type.Unknown());
/** How many there are on the node, when the list was shortened; the hash is over this number, too. */
const Total = Type.Optional(Count);
const wholeOf = <S extends TSchema>(item: S) =>
  Type.Object({
    hash: SectionHash,
    items: Type.Array(item, { maxItems: INVENTORY_ITEMS_MAX }),
    total: Total,
  });
const deltaOf = <S extends TSchema>(item: S) =>
  Type.Object({
    base_hash: SectionHash,
    hash: SectionHash,
    added: Type.Array(item, { maxItems: INVENTORY_ITEMS_MAX }),
    removed: Type.Array(item, { maxItems: INVENTORY_ITEMS_MAX }),
    total: Total,
    // A section is whole or a delta: who has items here and changes there would pass as one and be read as the other.
    items: Type.Optional(Type.Never()),
  });
const Section = Type.Union([wholeOf(Item), deltaOf(Item)]);
const Baselines = Type.Union([wholeOf(Baseline), deltaOf(Baseline)]);
const SectionName = Type.Enum([...INVENTORY_SECTIONS]);

export const InventoryRequest = Type.Object({
  is_full_snapshot: Type.Boolean(),
  sections: Type.Partial(
    Type.Object({
      processes: Section,
      connections: Section,
      listening_services: Section,
      container_images: Section,
      kubernetes: Section,
      packages: Section,
      baselines: Baselines,
      telecom: Section,
    }),
  ),
});
export const InventoryResponse = Type.Object({
  unchanged: Type.Array(SectionName),
  stored: Type.Array(SectionName),
  need_full: Type.Array(SectionName),
});

export type InventoryRequest = Type.Static<typeof InventoryRequest>;
export type InventoryResponse = Type.Static<typeof InventoryResponse>;
export type InventorySectionName = (typeof INVENTORY_SECTIONS)[number];
export type InventoryItem = Type.Static<typeof Item>;
export type InventorySection = Type.Static<typeof Section>;
