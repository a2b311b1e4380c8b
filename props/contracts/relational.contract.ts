// Every relational port's contract, run in memory, in the simulated fleet and on the real store.
import type { RelationalStores } from '../../storage/ports/stores.ts';
import type { Harness } from './away.ts';
import * as CONTRACTS from './relational-list.ts';

/** Defines the tests of every relational port. */
export function relationalContracts(harness: Harness<RelationalStores>): void {
  for (const define of Object.values(CONTRACTS)) define(harness);
}
