// The reference stores of this capability, as calls.
import type { SiemStores } from '../../ports/siem/stores.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { floorCalls, newSiemState, siemCalls } from './siem-store.ts';

/** The calls on empty stores. */
export function siemStores(
  base: MemoryBase & { readonly cursors: Map<string, number> },
): StoreCalls<SiemStores> {
  const state = newSiemState();
  return { siem: siemCalls(state, base), sinkFloors: floorCalls(state, base) };
}
