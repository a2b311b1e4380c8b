// Made-up alerts for the contracts of deliveries.
import { randomUUID } from 'node:crypto';
import type { Alert } from '../../machines/console/delivery/alert.ts';
import { HOSTILE, NOW_MS } from './samples.ts';

let ids = 0;
/** Rises. */
export function nextId(): string {
  ids += 1;
  return `0199${ids.toString(16).padStart(4, '0')}-0000-7000-8000-${randomUUID().slice(24)}`;
}

export function alertOf(more: Partial<Alert> = {}): Alert {
  return {
    ...{ alertId: nextId(), kind: 'sensor_stale', severity: 'high', ruleId: 'sensor_stale' },
    ...{ sensorId: randomUUID(), nodeName: 'node-1', headline: HOSTILE, detail: HOSTILE },
    ...{ occurredAtMs: NOW_MS, observedAtMs: null, source: 'coverage', dedupKey: randomUUID() },
    ...{ texts: { message: HOSTILE }, tags: ['a'], groupIds: [], relatedEventCount: null },
    ...{ search: null, ...more },
  };
}
