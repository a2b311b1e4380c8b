// What a sensor's actor was at an instant: restored from the last row before it and never started, so no timer fires. Its
// health is worked out anew for that instant, since it ages by time alone. decision: D88
import { type SensorSnapshot, sensorMachine } from '../../machines/console/fleet/sensor.machine.ts';
import type { StoredStanding, TransitionRow } from '../../storage/ports/telemetry/event-store.ts';
import { SENSOR_MACHINE_VERSION } from './transition-recorder.ts';

export type PastSensor = {
  /** The row it was restored from. */
  readonly row: TransitionRow;
  /** null where rows were dropped: what it was is not known. */
  readonly standing: StoredStanding | null;
  /** null when it is not known, or another version of the machine wrote the row. */
  readonly snapshot: SensorSnapshot | null;
};

/** Restores from rows of the sensor's actor, newest first; null when nothing was stored up to that instant. */
export function pastSensorAt(rows: readonly TransitionRow[], atMs: number): PastSensor | null {
  const row = rows.find((one) => one.actorKind === 'sensor' && one.atMs <= atMs);
  if (row === undefined) return null;
  const { after } = row;
  if (after === null) return { row, standing: null, snapshot: null };
  const standing = { ...after, timers: after.timers.filter(({ dueMs }) => dueMs > atMs) };
  return { row, standing, snapshot: snapshotOf(after) };
}

function snapshotOf({ value, context, machine }: StoredStanding): SensorSnapshot | null {
  if (machine !== SENSOR_MACHINE_VERSION) return null;
  return sensorMachine.resolveState({ value, context } as Parameters<
    typeof sensorMachine.resolveState
  >[0]);
}
