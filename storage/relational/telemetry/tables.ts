// The table of inventories as the database holds it.
import type { InventoryItem, InventorySectionName } from '../../../machines/wire/inventory.ts';
import type { Json } from '../plumbing/json-column.ts';

export type InventoryTable = {
  sensor_id: string;
  section: InventorySectionName;
  hash: string;
  items: Json<readonly InventoryItem[]>;
  node_total: number | null;
  stored_at_ms: number;
};

export type InventoryTables = {
  inventory_sections: InventoryTable;
};
