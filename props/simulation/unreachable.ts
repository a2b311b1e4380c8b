// The machines whose coverage is told, and what of them the simulated fleet cannot visit, each with its reason. A reason
// that turns out wrong is reported like a place that nobody can explain: this list may not rot in either direction.
import type { AnyStateMachine } from 'xstate';
import { enrollmentTokenMachine } from '../../machines/console/enrollment-token.machine.ts';
import { sensorMachine } from '../../machines/console/sensor.machine.ts';
import { startupMachine } from '../../machines/console/startup.machine.ts';
import { storeProcessMachine } from '../../machines/console/store-process.machine.ts';
import { engineMachine } from '../../machines/sensor/engine.machine.ts';
import { enrollmentMachine } from '../../machines/sensor/enrollment.machine.ts';
import { heartbeatMachine } from '../../machines/sensor/heartbeat.machine.ts';
import { nodeMachine } from '../../machines/sensor/node.machine.ts';
import { renewalMachine } from '../../machines/sensor/renewal.machine.ts';
import { spoolMachine } from '../../machines/sensor/spool.machine.ts';
import { streamMachine } from '../../machines/sensor/stream.machine.ts';

/** Every machine of the product. */
export const MACHINES: readonly AnyStateMachine[] = [
  sensorMachine,
  enrollmentTokenMachine,
  startupMachine,
  storeProcessMachine,
  nodeMachine,
  enrollmentMachine,
  heartbeatMachine,
  streamMachine,
  spoolMachine,
  engineMachine,
  renewalMachine,
];

export type Unreachable = {
  /** A place by its whole name, or a state whose inside is meant when it ends in `/*`. */
  readonly place: string;
  readonly reason: string;
};

export const UNREACHABLE: readonly Unreachable[] = [];

const EXACT = new Map<string, string>();
const INSIDE: { readonly state: string; readonly reason: string }[] = [];
for (const { place, reason } of UNREACHABLE) {
  if (place.endsWith('/*')) INSIDE.push({ state: place.slice(0, -2), reason });
  else EXACT.set(place, reason);
}

/** Why a place cannot be visited; null when it can. */
export function whyUnreachable(place: string): string | null {
  const exact = EXACT.get(place);
  if (exact !== undefined) return exact;
  const state = place.split(' ', 1)[0] ?? place;
  const inside = INSIDE.find((one) => state === one.state || state.startsWith(`${one.state}.`));
  return inside?.reason ?? null;
}
