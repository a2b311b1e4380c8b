// The stores of forwarding in PostgreSQL.
import type { SiemStores } from '../../ports/siem/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createSiemStore } from './siem-store.ts';
import { createSinkFloors } from './sink-floors.ts';

/** Opens every store of this capability. */
export function openSiemStores({ db }: RelationalContext): SiemStores {
  return { siem: createSiemStore(db), sinkFloors: createSinkFloors(db) };
}
