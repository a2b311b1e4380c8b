// A sensor's stored facts as a rollout sees them. Facts come from a database that another version may have written: what is
// not as expected counts as nothing. decision: D91
import { LOSS_PLACES } from '../../wire/loss.ts';
import { ENFORCEMENT_STATES } from '../../wire/policy.ts';
import type { SensorSight } from './rollout-tally.rules.ts';

/** The parts of its facts that count. */
export type SightFacts = {
  readonly policy: unknown;
  readonly restarts: unknown;
  readonly read: unknown;
  readonly loss: unknown;
};

/** Reads them. */
export function sightOf(
  sensorId: string,
  lastHeartbeatAtMs: number | null,
  facts: SightFacts | null,
): SensorSight {
  const loss = fieldsOf(facts?.loss);
  return {
    sensorId,
    lastHeartbeatAtMs,
    report: reportOf(facts?.policy),
    restarts: countOf(facts?.restarts),
    lost: LOSS_PLACES.reduce((sum, place) => sum + countOf(loss[place]), 0),
    read: countOf(facts?.read),
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
