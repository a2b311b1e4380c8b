// A sensor's stored facts as a rollout sees them. Facts come from a database that another version may have written: what is
// not as expected counts as nothing. decision: D91
import { LOSS_PLACES } from '../../wire/loss.ts';
import { ENFORCEMENT_STATES } from '../../wire/policy.ts';
import type { SensorSight } from './rollout-tally.rules.ts';

/** Reads them; null before the first heartbeat. */
export function sightOf(
  sensorId: string,
  lastHeartbeatAtMs: number | null,
  facts: unknown,
): SensorSight {
  const { policy, loss, engine, pipeline } = fieldsOf(facts);
  const lost = fieldsOf(loss);
  return {
    sensorId,
    lastHeartbeatAtMs,
    report: reportOf(policy),
    restarts: countOf(fieldsOf(engine)['restarts']),
    lost: LOSS_PLACES.reduce((sum, place) => sum + countOf(lost[place]), 0),
    read: countOf(fieldsOf(pipeline)['read']),
  };
}

function reportOf(policy: unknown): SensorSight['report'] {
  const { assignment_id, state, reason, code } = fieldsOf(policy);
  const known = ENFORCEMENT_STATES.find((one) => one === state);
  if (known === undefined) return null;
  const why = [code, reason].filter((one) => typeof one === 'string').join(': ');
  return {
    assignmentId: typeof assignment_id === 'string' ? assignment_id : null,
    state: known,
    reason: why === '' ? null : why,
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
