// The fleet's directory seen through the narrow port of the trust actions and the sensor plane.
import type { Intervals } from '../../machines/limits.ts';
import {
  type Health,
  type TrustRegionState,
  WIRE_TRUST_STATE,
} from '../../machines/trust/health.rules.ts';
import { healthOf, type SensorDirectory, sensorInputOf } from '../fleet/sensor.actor.ts';
import type { SensorActors } from '../trust/sensor-actors.ts';

/** Wraps the directory. `now` is the wall clock. */
export function sensorActorsOf(
  directory: SensorDirectory,
  intervals: Intervals,
  now: () => number,
): SensorActors {
  return {
    open: (row, why) => directory.open(row.sensorId, sensorInputOf(row, now(), intervals), why),
    tell: (sensorId, event) => directory.tell(sensorId, event),
    onStart: (listener) => directory.subscribeStarted(listener),
    view(sensorId, nowMs) {
      const view = directory.ask(sensorId);
      if (view === 'absent') return null;
      const { snapshot } = view;
      const { trust } = snapshot.value;
      let known: Health | null = null;
      const health = () => {
        known ??= healthOf(snapshot, nowMs);
        return known;
      };
      // Health is worked out when somebody reads it: a heartbeat first asks only whether there were facts.
      return {
        get health() {
          return health().health;
        },
        get because() {
          return health().because;
        },
        // `assessing` and `deciding` are left before a snapshot can be read.
        trustState: WIRE_TRUST_STATE[trust as TrustRegionState],
        hasFacts: snapshot.context.lastHeartbeatAtMs !== null,
        containment: snapshot.context.containment,
      };
    },
  };
}
