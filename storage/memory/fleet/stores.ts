// The reference stores of this capability, as calls; the registry and its facts stand apart, since watching is no call.
import type { FleetStores } from '../../ports/fleet/stores.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { labelCalls } from './labels.ts';
import { ownershipCalls } from './ownership.ts';

/** The calls on empty stores. */
export function fleetStores(base: MemoryBase): StoreCalls<Omit<FleetStores, 'sensors' | 'facts'>> {
  const about = { ...base, sensors: base.registry.sensors };
  const { labels } = base;
  return {
    teams: {
      ...ownershipCalls(labels, about),
      teams: labelCalls(labels, 'team', about),
      groups: labelCalls(labels, 'group', about),
    },
  };
}
