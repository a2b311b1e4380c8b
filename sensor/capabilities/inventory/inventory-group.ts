// What a capability tells of the node in the inventory.
import type { InventorySectionName } from '../../../machines/wire/inventory.ts';
import type { Section } from '../telemetry/section.ts';

export type HeldSection = Section & {
  /** Told even when nothing changed. */
  readonly isDue?: boolean;
};
/** Sections that are read and told together; each group alone, so that none is too long for another's sake. */
export type InventoryGroup = {
  read(): Promise<ReadonlyMap<InventorySectionName, HeldSection>>;
  /** When all of it is told whole, that is the whole node. */
  readonly isSnapshot?: boolean;
  /** The Console has what was read last of this section. */
  stored?(name: InventorySectionName, held: HeldSection): void;
};
