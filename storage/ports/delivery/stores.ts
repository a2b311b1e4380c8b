// What is kept of alerts on their way.
import type { DeliveryStore } from './delivery-store.ts';
import type { WebhookStore } from './webhook-store.ts';

export type DeliveryStores = {
  readonly webhooks: WebhookStore;
  readonly deliveries: DeliveryStore;
};
