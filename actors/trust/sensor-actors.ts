// What the trust actions and the sensor plane need of the fleet's actors: they address them by id and never hold one.

import type { SensorEvent } from '../../machines/console/fleet/sensor.machine.ts';
import type { ContainmentFacts } from '../../machines/console/fleet/sensor-containment.rules.ts';
import type { Health } from '../../machines/trust/health.rules.ts';
import type { WireTrustState } from '../../machines/wire/heartbeat.ts';
import type { SensorRow } from '../../storage/ports/fleet/sensor-registry.ts';

export type SensorLiveFacts = Health & {
  readonly trustState: WireTrustState;
  /** Whether a heartbeat of this sensor is known. */
  readonly hasFacts: boolean;
  readonly containment: ContainmentFacts;
};

export type SensorActors = {
  /** Starts the actor of a row; an existing one is kept. `why` names its first move when that is history. */
  open(row: SensorRow, why?: string): void;
  /** Hands an event over; an unknown sensor is an ordinary 'absent'. */
  tell(sensorId: string, event: SensorEvent): 'told' | 'absent';
  /** Called after each start of an actor, with what its facts do not hold still to be told. Gives back what ends it. */
  onStart(listener: (sensorId: string) => void): () => void;
  /** Null when there is no such actor. */
  view(sensorId: string, nowMs: number): SensorLiveFacts | null;
};
