// The reference stores of this capability, as calls.
import type { DetectionStores } from '../../ports/detection/stores.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { type AlertDeps, memoryAlertCalls } from './alert-store.ts';
import { memoryRuleCalls } from './rule-store.ts';

/** The calls on empty stores. */
export function detectionStores({
  record,
  fence,
  heldAlerts,
  cursors,
}: MemoryBase &
  Pick<AlertDeps, 'heldAlerts'> & {
    readonly cursors: Map<string, number>;
  }): StoreCalls<DetectionStores> {
  return {
    alerts: memoryAlertCalls({ record, fence, heldAlerts }),
    alertRules: memoryRuleCalls(record, cursors),
  };
}
