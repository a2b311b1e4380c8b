// The stores of delivery in PostgreSQL.
import type { DeliveryStores } from '../../ports/delivery/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { createWebhookStore } from './webhook-store.ts';

/** Opens every store of this capability. */
export function openDeliveryStores({ db }: RelationalContext): DeliveryStores {
  return {
    webhooks: createWebhookStore(db),
    deliveries: createDeliveryStore(db),
  };
}
