// The reference store of rollouts: over the sensors of the registry and the transitions that commits of policies wrote.
// decision: D90
import { sightOf } from '../../../machines/console/policy/sensor-sight.rules.ts';
import type { SensorRow } from '../../ports/fleet/sensor-registry.ts';
import type { RolloutMove, RolloutStore } from '../../ports/policy/rollout-store.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

/** The transitions of each rollout, oldest first. */
export type RolloutMoves = Map<string, RolloutMove[]>;

/** The calls on the sensors and transitions of others. */
export function rolloutCalls(
  sensors: ReadonlyMap<string, SensorRow>,
  moves: RolloutMoves,
): Calls<RolloutStore> {
  return {
    look: (sensorIds) =>
      sensorIds.flatMap((id) => {
        const row = sensors.get(id);
        if (row === undefined || row.revokedAtMs !== null) return [];
        return [sightOf(id, row.lastHeartbeatAtMs, row.facts)];
      }),
    moves: ({ rolloutId, limit, before }) =>
      (moves.get(rolloutId) ?? [])
        .filter(({ sequence }) => before === null || sequence < before)
        .reverse()
        .slice(0, limit),
  };
}
