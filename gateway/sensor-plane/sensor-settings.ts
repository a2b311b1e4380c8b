// What every answer that carries settings tells a Sensor, read at that moment: an operator may have changed it since.
import type { Intervals } from '../../machines/limits.ts';
import type { SensorSettings } from '../../machines/wire/heartbeat.ts';

/** The settings in force. */
export function sensorSettingsOf(
  intervals: Pick<Intervals, 'HEARTBEAT_INTERVAL_MS' | 'RENEWAL_DUE_MS'>,
): SensorSettings {
  return {
    heartbeat_interval_seconds: intervals.HEARTBEAT_INTERVAL_MS / 1_000,
    renewal_threshold_seconds: intervals.RENEWAL_DUE_MS / 1_000,
  };
}
