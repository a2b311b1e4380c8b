// What the simulated PostgreSQL holds, and the calls on it.
import { type AuditCalls, auditCalls } from '../../../storage/memory/audit/audit-log.ts';
import { emptyLabels, type LabelsState } from '../../../storage/memory/fleet/labels.ts';
import type { RegistryPort } from '../../../storage/memory/fleet/registry-calls.ts';
import type { RegistryState } from '../../../storage/memory/fleet/registry-state.ts';
import { memoryStores, type PlainStores } from '../../../storage/memory/memory-stores.ts';
import type { Calls, StoreCalls } from '../../../storage/memory/plumbing/unsafe-port-of.ts';
import {
  type DesignationState,
  emptyDesignation,
  fenceOf,
} from '../../../storage/memory/runtime/designation.ts';
import { observedPolicies } from './policy-watch.ts';
import { observedRegistry } from './stores-observed.ts';
import { type ObservedAccess, observedAccess } from './stores-people.ts';
import type { World } from './world.ts';

export type SimulatedDatabase = {
  readonly audit: AuditCalls;
  readonly labels: LabelsState;
  readonly registry: Calls<RegistryPort>;
  readonly access: ObservedAccess;
  readonly plain: StoreCalls<PlainStores>;
};

/** Empties what outlives a database that goes back, and makes one over it. */
export function emptyDatabase(over: {
  readonly state: RegistryState;
  readonly tenures: DesignationState;
  readonly say: World['observe'];
  readonly now: () => number;
}): SimulatedDatabase {
  const { state, tenures, say, now } = over;
  for (const held of Object.values(state)) if (held instanceof Map) held.clear();
  tenures.last = emptyDesignation().last;
  const fence = fenceOf(tenures);
  const audit = auditCalls(fence);
  const labels = emptyLabels();
  const { record } = audit;
  const access = observedAccess(record, say);
  const plain = memoryStores({
    ...{ record, fence, registry: state, labels, hasUser: access.has, now },
  });
  return {
    ...{ audit, labels, access, registry: observedRegistry(state, say) },
    plain: { ...plain, policies: observedPolicies(plain.policies, say) },
  };
}
