// A copy of a sensor's actor in this browser: the same machine, the same value and facts, and one event that only the copy
// hears. What it leads to is told with the effects that the real one would have.
import { transition } from 'xstate';
import { type SensorEvent, sensorMachine } from '../../../machines/console/fleet/sensor.machine.ts';
import type { SensorContext } from '../../../machines/console/fleet/sensor.rules.ts';

export type Outcome = {
  readonly moves: readonly (readonly [region: string, from: string, to: string])[];
  readonly context: SensorContext;
  readonly effects: readonly string[];
};
/** Above every order that was given. */
const HIGHEST_ID = 'ffffffff-ffff-7fff-bfff-ffffffffffff';
type Regions = Readonly<Record<string, string>>;

/** Events that can be tried, each with fields to begin with. */
export function triables(nowMs: number): Readonly<Record<SensorEvent['type'], SensorEvent>> {
  const atMs = nowMs;
  return {
    'heartbeat.received': {
      ...{ type: 'heartbeat.received', atMs, reportedTrustState: 'trusted' },
      ...{ lastTrustErrorAtMs: null, lastConnectionErrorAtMs: null, engineState: 'running' },
    },
    'stream.opened': { type: 'stream.opened', atMs },
    'stream.closed': { type: 'stream.closed', atMs, reason: 'gone' },
    'certificate.changed': { type: 'certificate.changed', atMs, notAfterMs: atMs + 3_600_000 },
    'sensor.revoked': { type: 'sensor.revoked', atMs, reason: 'what if' },
    'clock.jumped': { type: 'clock.jumped', atMs: atMs + 3_600_000, byMs: 3_600_000 },
    'windows.changed': { type: 'windows.changed', atMs, dueMs: 86_400_000 },
    'policy.assigned': { type: 'policy.assigned', atMs },
    'policy.reported': { type: 'policy.reported', atMs, state: 'in_force' },
    'containment.ordered': {
      ...{ type: 'containment.ordered', atMs },
      order: { orderId: HIGHEST_ID, wanted: 'contained', reason: 'what if', untilMs: null },
    },
    'containment.reported': {
      ...{ type: 'containment.reported', atMs },
      report: { orderId: HIGHEST_ID, state: 'contained', failure: null },
    },
  };
}

/** Where an event leads from a value and its facts. */
export function whatIf(value: Regions, context: SensorContext, event: SensorEvent): Outcome {
  const now = sensorMachine.resolveState({ value: { ...value } as never, context });
  const [next, actions] = transition(sensorMachine, now, event);
  const after = next.value as Regions;
  return {
    moves: Object.entries(after).flatMap(([region, to]) =>
      value[region] === to ? [] : [[region, value[region] ?? '', to] as const],
    ),
    context: next.context,
    effects: actions.map(({ type, params }) => {
      const delay = (params as { delay?: unknown } | undefined)?.delay;
      return delay === undefined ? type : `${type} in ${String(delay)} ms`;
    }),
  };
}
