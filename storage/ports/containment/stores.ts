// What is kept of orders to cut a node off.
import type { ContainmentOrders } from './containment-orders.ts';

export type ContainmentStores = {
  readonly containment: ContainmentOrders;
};
