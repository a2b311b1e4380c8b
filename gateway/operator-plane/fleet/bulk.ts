// Acts on many sensors at once: each is judged, done and audited by itself, and has a result of its own. What was done
// stays done when a later one is refused. decision: D43; invariant: I18
import Type from 'typebox';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import { BULK_SENSORS_MAX } from '../../../machines/limits.ts';
import { actsOnOwnedOnly } from '../../../machines/trust/roles.rules.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { TeamStore } from '../../../storage/ports/fleet/teams.ts';
import type { Operator } from '../../access/operator.ts';
import { Nullable } from '../plumbing/shapes.ts';

export const SensorIds = Type.Array(Uuid, {
  minItems: 1,
  maxItems: BULK_SENSORS_MAX,
  description: 'each once',
});
export const BulkAnswer = Type.Object({
  items: Type.Array(
    Type.Object({
      sensor_id: Uuid,
      ok: Type.Boolean(),
      code: Nullable(Type.String({ description: 'why not, as in problems' })),
      detail: Nullable(Type.String()),
    }),
  ),
});
type BulkAnswer = Type.Static<typeof BulkAnswer>;

const NOT_OWNER = refuse(
  'not_owner',
  'This sensor is neither on your own list nor owned by a team of yours.',
);

/** One after another, each once; `act` answers null when it was done. Rejects with StoreUnavailable. */
export async function actOnEach(
  teams: Pick<TeamStore, 'owns'>,
  operator: Operator,
  sensorIds: readonly string[],
  act: (sensorId: string) => Promise<Refusal | null>,
): Promise<BulkAnswer> {
  const items: BulkAnswer['items'] = [];
  for (const sensorId of new Set(sensorIds.map((id) => id.toLowerCase()))) {
    const refusal = (await mayAct(teams, operator, sensorId)) ? await act(sensorId) : NOT_OWNER;
    items.push({
      sensor_id: sensorId,
      ok: refusal === null,
      code: refusal?.code ?? null,
      detail: refusal?.detail ?? null,
    });
  }
  return { items };
}

async function mayAct(
  teams: Pick<TeamStore, 'owns'>,
  { role, userId }: Operator,
  sensorId: string,
): Promise<boolean> {
  if (!actsOnOwnedOnly(role)) return true;
  return userId !== null && (await teams.owns(userId, sensorId));
}
