// What a capability adds to the heartbeat: it takes its part of what a Sensor tells, and answers its own fields. The route
// joins them, so that nobody has to know the others. Called on the hot path: no query, nothing awaited.
import type { HeartbeatRequest, HeartbeatResponse } from '../../machines/wire/heartbeat.ts';
import type { ANSWERED_MEMBERS } from '../../machines/wire/heartbeat-members.ts';
import type { IdentityRecord, SensorFacts } from '../../storage/ports/fleet/sensor-registry.ts';

/** The fields of the answer that its own route does not fill. */
export type HeartbeatExtras = Partial<
  Pick<HeartbeatResponse, 'stored_sections' | keyof typeof ANSWERED_MEMBERS>
>;

export type HeartbeatPart = {
  /** Called once, before anything of the heartbeat is durable. */
  take?(identity: IdentityRecord, beat: HeartbeatRequest, nowMs: number): void;
  /** What the sensor's row is to keep, by names of its own, and small: operators see it as it is. Called after `take`. */
  facts?(identity: IdentityRecord, beat: HeartbeatRequest, nowMs: number): Partial<SensorFacts>;
  /** Called when facts and events are durable. */
  answer?(sensorId: string): HeartbeatExtras;
};
