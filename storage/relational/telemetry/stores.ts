// The store of inventories in PostgreSQL; events lie in ClickHouse.
import type { InventoryStores } from '../../ports/telemetry/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createInventoryStore } from './inventory-store.ts';

/** Opens every store of this capability. */
export function openInventoryStores({ db }: RelationalContext): InventoryStores {
  return {
    inventory: createInventoryStore(db),
  };
}
