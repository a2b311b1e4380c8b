// Every relational port in memory on one switch, as the real ones share one database. Used by tests and the simulated
// fleet only.
import type { AccessStores } from '../ports/access/stores.ts';
import type { RelationalStores } from '../ports/stores.ts';
import type { PeopleState } from './access/people-state.ts';
import { type AccessMemory, accessMemory } from './access/stores.ts';
import { createMemoryAudit, type MemoryAudit } from './audit/audit-log.ts';
import { emptyLabels, isLabelled } from './fleet/labels.ts';
import { createMemoryRegistry } from './fleet/memory-registry.ts';
import type { RegistryState } from './fleet/registry-state.ts';
import { memoryStores, type PlainStores } from './memory-stores.ts';
import { createAwaySwitch } from './plumbing/away-switch.ts';
import { portsOf } from './plumbing/unsafe-port-of.ts';
import { createMemoryDesignation } from './runtime/designation.ts';

export type MemoryRelational = RelationalStores & {
  /** What they hold, for tests that begin in the middle. */
  readonly state: MemoryState;
  /** Away: every port behaves as when the database is gone. */
  setAway(away: boolean): void;
};

export type MemoryState = Pick<RegistryState, 'sensors' | 'tokens'> &
  Pick<PeopleState, 'users' | 'sessions'> &
  Pick<AccessMemory, 'keys'> & { readonly audit: MemoryAudit['rows'] };

/** Makes every relational port, empty. */
export function createMemoryRelational(): MemoryRelational {
  const tenures = createMemoryDesignation();
  const log = createMemoryAudit(tenures.fence);
  const labels = emptyLabels();
  const registry = createMemoryRegistry(log, (id, filter) => isLabelled(labels, id, filter));
  const access = accessMemory(log.record);
  const calls = memoryStores({
    record: log.record,
    fence: tenures.fence,
    registry: registry.state,
    labels,
    hasUser: access.has,
  });
  const plain = createAwaySwitch();
  return {
    ...portsOf<PlainStores>(calls, plain.ask),
    ...portsOf<AccessStores>(access.stores, plain.ask),
    sensors: registry.sensors,
    facts: registry.facts,
    audit: log.audit,
    auditChain: log.chain,
    designation: tenures.designation,
    health: { ping: async () => !plain.isAway() },
    state: { ...registry.state, ...access.state, keys: access.keys, audit: log.rows },
    setAway(away) {
      for (const one of [plain, log, registry, tenures]) one.setAway(away);
    },
  };
}
