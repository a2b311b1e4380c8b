// What the sensor plane is given. Time, stores and actors are ports; nothing here builds a client.
import type { NodeMachines } from '../../actors/fleet/node-machines.ts';
import type { Logger } from '../../actors/runtime/logger.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { Ingest } from '../../actors/telemetry/ingest.ts';
import type { IdentityCache } from '../../actors/trust/identity-cache.ts';
import type { Authenticate } from '../../actors/trust/renewal.ts';
import type { SensorActors } from '../../actors/trust/sensor-actors.ts';
import type { Intervals } from '../../machines/limits.ts';
import type { Flavor } from '../../machines/wire/scalars.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { FactWriter } from '../../storage/ports/fleet/sensor-registry.ts';
import type { RateBudget } from '../access/rate-budget.ts';
import type { HeartbeatPart } from './heartbeat-part.ts';

/** What letting a sensor in takes. */
export type AdmissionDeps = {
  /** Milliseconds of the wall clock. */
  readonly now: () => number;
  readonly clock: Pick<WheelClock, 'setTimeout' | 'clearTimeout'>;
  readonly intervals: Intervals;
  readonly cache: Pick<IdentityCache, 'judge' | 'subscribe'>;
  readonly authenticate: Authenticate;
  /** The budget of addresses without a certificate. decision: D15 */
  readonly budget: RateBudget;
};

export type StreamDeps = AdmissionDeps & {
  readonly logger: Logger;
  readonly sensors: SensorActors;
  readonly ingest: Ingest;
  readonly audit: AuditLog;
  /** What a node says of its own statecharts. */
  readonly nodeMachines: Pick<NodeMachines, 'take'>;
};

export type HeartbeatDeps = AdmissionDeps & {
  readonly sensors: SensorActors;
  readonly facts: Pick<FactWriter, 'write'>;
  /** What this Console watches; a Sensor of another flavor is shown as one. */
  readonly platform: Flavor;
  readonly ingest: Ingest;
  /** What other capabilities take of it and answer. */
  readonly parts: () => readonly HeartbeatPart[];
};
