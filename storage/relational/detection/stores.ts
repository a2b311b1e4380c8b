// The stores of detection in PostgreSQL.
import type { DetectionStores } from '../../ports/detection/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createAlertStore } from './alert-store.ts';
import { createRuleStore } from './rule-store.ts';

/** Opens every store of this capability. */
export function openDetectionStores({ db }: RelationalContext): DetectionStores {
  return { alerts: createAlertStore(db), alertRules: createRuleStore(db) };
}
