// Duplicates can always be removed: what is stored twice has the same event id, and no id stands for two events. One
// excuse: the id is made of the sensor's identity too, so an event that a node read again after it had enrolled as
// somebody else has another id; such nodes are left out of the first half. decision: D6
import type { EventBatch } from '../../../storage/ports/telemetry/event-store.ts';
import type { CheckerKind } from './checker.ts';
import { createKeyColumn, digestOf, ensure, nodeOfKey } from './columns.ts';

export const removableDuplicates: CheckerKind = {
  name: 'removable-duplicates',
  promise: 'An event stored twice has one event id, and an event id stands for one event (D6).',
  make(fleet, report) {
    const { rows } = fleet.stores.analytics;
    const keyOfId = new Map<string, string>();
    const idOfKey = createKeyColumn();
    const sensorsOf = new Map<string, Set<string>>();
    let seen = 0;

    function look({ sensorId, nodeName, events }: EventBatch): void {
      const sensors = ensure(sensorsOf, nodeName, () => new Set<string>()).add(sensorId);
      for (const event of events) {
        const key = event.process?.exec_id ?? '';
        if (nodeOfKey(key) === '') continue;
        const known = keyOfId.get(event.event_id);
        if (known === undefined) keyOfId.set(event.event_id, key);
        else if (known !== key) report(`${event.event_id} stands for ${known} and for ${key}`);
        const id = digestOf([event.event_id]);
        const before = idOfKey.get(key);
        idOfKey.set(key, id);
        if (before !== 0 && before !== id && sensors.size === 1) {
          report(`${key} is stored under two event ids, the second ${event.event_id}`);
        }
      }
    }

    function catchUp(): void {
      const batches = rows.batches();
      for (; seen < batches.length; seen += 1) {
        const batch = batches[seen];
        if (batch !== undefined) look(batch);
      }
    }

    return {
      observe(observation) {
        if (observation.kind !== 'events.forgotten') return;
        // They are not there any more; each was looked at if it was there at a probe.
        seen = Math.min(seen, rows.batches().length);
      },
      probe: catchUp,
      finish: catchUp,
    };
  },
};
