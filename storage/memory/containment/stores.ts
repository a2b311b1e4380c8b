// The reference stores of this capability, as calls.
import type { ContainmentStores } from '../../ports/containment/stores.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { containmentCalls } from './containment-orders.ts';

/** The calls on empty stores. */
export function containmentStores({ registry }: MemoryBase): StoreCalls<ContainmentStores> {
  return { containment: containmentCalls(registry) };
}
