// Revocation: one transaction, then at once everywhere in this process. The cache refuses the next request and frame,
// its listeners close open streams, and the actor is told. Idempotent. invariant: I3, I12
import type { SensorRegistry, SensorRow } from '../../storage/ports/fleet/sensor-registry.ts';
import type { IdentityCache } from './identity-cache.ts';
import type { SensorActors } from './sensor-actors.ts';

export type RevokeSensor = (input: {
  readonly sensorId: string;
  readonly reason: string;
  readonly actor: string;
  readonly from?: string;
}) => Promise<SensorRow | null>;

/** Makes the action: null when there is no such sensor; throws StoreUnavailable when nothing was revoked. */
export function createRevocation(deps: {
  readonly registry: Pick<SensorRegistry, 'revoke'>;
  readonly cache: IdentityCache;
  readonly sensors: SensorActors;
  readonly now: () => number;
}): RevokeSensor {
  return async ({ sensorId, reason, actor, from }) => {
    const row = await deps.registry.revoke({ sensorId, reason, actor, from, nowMs: deps.now() });
    if (row === null) return null;
    if (row.revokedAtMs === null) throw new Error('a revoked sensor has no instant of revocation');
    deps.cache.markRevoked(sensorId, row.revokedAtMs);
    deps.sensors.tell(sensorId, { type: 'sensor.revoked', atMs: row.revokedAtMs, reason });
    return row;
  };
}
