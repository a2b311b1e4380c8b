// The reference stores of this capability, as calls.
import type { DeliveryStores } from '../../ports/delivery/stores.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { memoryDeliveryCalls } from './webhook-store.ts';

/** The calls on empty stores. */
export function deliveryStores({
  record,
  fence,
  registry,
}: MemoryBase): StoreCalls<DeliveryStores> {
  const hasSensor = (sensorId: string): boolean => registry.sensors.has(sensorId);
  return memoryDeliveryCalls({ record, fence, hasSensor });
}
