// The fleet's directory seen through the narrow port of the trust actions and the sensor plane.
import type { Intervals } from '../../../machines/limits.ts';
import { WIRE_TRUST_STATE } from '../../../machines/trust/health.rules.ts';
import type { SensorActors } from '../../trust/sensor-actors.ts';
import { healthOf, regionsOfSensor, type SensorDirectory, sensorInputOf } from '../sensor.actor.ts';

/** Wraps the directory. `now` is the wall clock. */
export function sensorActorsOf(
  directory: SensorDirectory,
  intervals: Intervals,
  now: () => number,
): SensorActors {
  return {
    open: (row, why) => directory.open(row.sensorId, sensorInputOf(row, now(), intervals), why),
    tell: (sensorId, event) => directory.tell(sensorId, event),
    glance(sensorId, nowMs) {
      const view = directory.ask(sensorId);
      if (view === 'absent') return null;
      const { snapshot } = view;
      const regions = regionsOfSensor(snapshot);
      return {
        ...healthOf(snapshot, nowMs),
        trustState: WIRE_TRUST_STATE[regions.trust],
        hasFacts: snapshot.context.lastHeartbeatAtMs !== null,
        isContained: regions.containment === 'contained' || regions.containment === 'containing',
      };
    },
  };
}
