// The store of containment in PostgreSQL.
import type { ContainmentStores } from '../../ports/containment/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createContainmentOrders } from './containment-orders.ts';

/** Opens every store of this capability. */
export function openContainmentStores({ db }: RelationalContext): ContainmentStores {
  return {
    containment: createContainmentOrders(db),
  };
}
