// The reference stores that are plain calls: one line for each capability that owns some. The tests make ports of them
// with a switch, the simulated fleet with a way that has faults; operator access, the audit log, the registry and
// designation are simulated apart, since the checkers watch them.
import type { AccessStores } from '../ports/access/stores.ts';
import type { RelationalStores } from '../ports/stores.ts';
import { containmentStores } from './containment/stores.ts';
import { deliveryStores } from './delivery/stores.ts';
import { detectionStores } from './detection/stores.ts';
import { digestStores } from './digest/stores.ts';
import { exportStores } from './exports/stores.ts';
import { fleetStores } from './fleet/stores.ts';
import { heldAlerts } from './hunting/held-alerts.ts';
import { huntingStores } from './hunting/stores.ts';
import { licenseStores } from './license/stores.ts';
import type { MemoryBase } from './plumbing/base.ts';
import type { StoreCalls } from './plumbing/unsafe-port-of.ts';
import { policyStores } from './policy/stores.ts';
import { settingsStores } from './settings/stores.ts';
import { siemStores } from './siem/stores.ts';
import { inventoryStores } from './telemetry/stores.ts';

type Apart = 'sensors' | 'facts' | 'audit' | 'auditChain' | 'designation' | 'health';
export type PlainStores = Omit<RelationalStores, Apart | keyof AccessStores>;

/** The calls on empty stores. */
export function memoryStores(base: MemoryBase): StoreCalls<PlainStores> {
  const hunting = huntingStores(base);
  const cursors = new Map<string, number>();
  return {
    ...containmentStores(base),
    ...deliveryStores(base),
    ...detectionStores({ ...base, heldAlerts: () => heldAlerts(hunting), cursors }),
    ...digestStores(base),
    ...exportStores(base),
    ...fleetStores(base),
    ...hunting,
    ...inventoryStores(),
    ...licenseStores(base),
    ...policyStores(base),
    ...settingsStores(base),
    ...siemStores({ ...base, cursors }),
  };
}
