// The machines whose coverage is told, and what of them the simulated fleet cannot visit, each with its reason. A reason
// that turns out wrong is reported like a place that nobody can explain: this list may not rot in either direction.
import type { AnyStateMachine } from 'xstate';
import { rateLimitsMachine } from '../../machines/console/access/rate-limits.machine.ts';
import { ssoLoginMachine } from '../../machines/console/access/sso-login.machine.ts';
import { sensorMachine } from '../../machines/console/fleet/sensor.machine.ts';
import { licenseMachine } from '../../machines/console/license/license.machine.ts';
import { designationMachine } from '../../machines/console/runtime/designation.machine.ts';
import { loopMachine } from '../../machines/console/runtime/loop.machine.ts';
import { startupMachine } from '../../machines/console/runtime/startup.machine.ts';
import { STARTUP_STEPS } from '../../machines/console/runtime/startup.rules.ts';
import { storeProcessMachine } from '../../machines/console/runtime/store-process.machine.ts';
import { setupMachine } from '../../machines/console/settings/setup.machine.ts';
import { containmentMachine } from '../../machines/sensor/containment.machine.ts';
import { engineMachine } from '../../machines/sensor/engine.machine.ts';
import { enrollmentMachine } from '../../machines/sensor/enrollment.machine.ts';
import { heartbeatMachine } from '../../machines/sensor/heartbeat.machine.ts';
import { nodeMachine } from '../../machines/sensor/node.machine.ts';
import { policyMachine } from '../../machines/sensor/policy.machine.ts';
import { renewalMachine } from '../../machines/sensor/renewal.machine.ts';
import { spoolMachine } from '../../machines/sensor/spool.machine.ts';
import { streamMachine } from '../../machines/sensor/stream.machine.ts';

/** Every machine of the product. */
export const MACHINES: readonly AnyStateMachine[] = [
  sensorMachine,
  startupMachine,
  setupMachine,
  storeProcessMachine,
  loopMachine,
  designationMachine,
  licenseMachine,
  ssoLoginMachine,
  rateLimitsMachine,
  nodeMachine,
  enrollmentMachine,
  heartbeatMachine,
  streamMachine,
  spoolMachine,
  engineMachine,
  renewalMachine,
  containmentMachine,
  policyMachine,
];

export type Unreachable = {
  /** A place by its whole name, or a state whose inside is meant when it ends in `/*`. */
  readonly place: string;
  readonly reason: string;
};

const TOLD_AS_IT_IS =
  'a Console tells an actor the state it worked out of wish and report, also when the wish is new';
const FILES_ANSWER =
  'keys, certificates and the edge of a simulated Console are there whatever happens; only its stores can be away';
const CALL_ENDS_FIRST = 'every call of a step has a deadline of its own, which comes first';
const NO_SETUP =
  'it asks a person for the configuration of a Console that has none; the simulated Consoles have theirs';
const TAKEN_IN_TIME = 'a login whose time is over is not given out of the database any more';
const STEPS_ANSWER = 'what a login does outside its machine answers a failure with a value';
const NO_SERVER = 'it keeps a real database server running; simulated stores have no process';
const NO_COUNTER = 'each simulated Console counts its budgets by itself: the fleet has no Redis';
const CLOCK_ANSWERS = 'reading a clock cannot fail';
const TOKEN_OR_NONE = 'a token that cannot be read is no token: the look itself cannot fail';
const EXCHANGE_ANSWERS =
  'the exchange of a token ends with a value whatever disk and Console do: what fails is tried again';
const LAUNCHER =
  'the port of the engine answers a start that fails with a run that has ended; it never rejects';
const NO_MEMORY = 'a simulated process holds no memory of its own that could grow';
const DEADLINE_FIRST =
  'the deadline of the newer build is as long as the silence that counts as a hang, and began before it';
const ONE_ENGINE = 'a simulated host has one engine, so that no lesser one can take over';
const CLIENT_ANSWERS = 'a request is answered with a value whatever happens; it never rejects';
const NOTHING_UNDER_WAY =
  'nothing is sent in this state; only the answer of another request could say it, judged after a revocation that came in the moment in which the certificate expired';
const SPOOL_ANSWERS =
  'the spool answers what the disk refuses with a value, so that opening and settling cannot fail';
const NO_REFUSAL =
  'the Console refuses a batch for other events under its number, or for its content: a journal keeps what has a number, and every event a Sensor makes fits';
const ONE_ANSWER = 'the Console asks for a pause only as the answer to a batch that is in flight';
const STARTS_AT_ONCE = 'collecting is started without a call to the outside that could fail';

const ASKS_A_STORE: ReadonlySet<string> = new Set([
  'relational_database',
  'license_trust_anchor',
  'routers',
]);

export const UNREACHABLE: readonly Unreachable[] = [
  { place: 'sensor.policy policy.assigned 0', reason: TOLD_AS_IT_IS },
  ...STARTUP_STEPS.map((step) => ({
    place: `startup.${step} after:stepTimeoutMs 0`,
    reason: CALL_ENDS_FIRST,
  })),
  ...STARTUP_STEPS.filter((step) => !ASKS_A_STORE.has(step)).map((step) => ({
    place: `startup.${step} error:${step} 0`,
    reason: FILES_ANSWER,
  })),
  { place: 'setup/*', reason: NO_SETUP },
  { place: 'sso-login.started login.returned 1', reason: TAKEN_IN_TIME },
  ...['returned', 'exchanged', 'judged'].map((state) => ({
    place: `sso-login.${state} error:0 0`,
    reason: STEPS_ANSWER,
  })),
  { place: 'store-process/*', reason: NO_SERVER },
  { place: 'rate-limits/*', reason: NO_COUNTER },
  { place: 'engine.lost error:readClock 0', reason: CLOCK_ANSWERS },
  { place: 'engine.attending error:runEngine 0', reason: LAUNCHER },
  { place: 'engine.attending.running engine.alive 0', reason: NO_MEMORY },
  { place: 'engine.attending.upgrading.attaching engine.alive 0', reason: NO_MEMORY },
  {
    place: 'engine.attending.upgrading.attaching after:hangTimeoutMs 0',
    reason: DEADLINE_FIRST,
  },
  { place: 'engine.backing_off always 0', reason: ONE_ENGINE },
  { place: 'renewal.trying error:tryCertificate 0', reason: CLIENT_ANSWERS },
  { place: 'node.awaiting_reenrollment sensor.revoked 0', reason: NOTHING_UNDER_WAY },
  { place: 'stream.opening error:openSocket 0', reason: SPOOL_ANSWERS },
  {
    place: 'stream.open.delivery.settling.acknowledged error:settleAcknowledged 0',
    reason: SPOOL_ANSWERS,
  },
  { place: 'stream.open.delivery.settling.refused/*', reason: NO_REFUSAL },
  { place: 'stream.open.delivery.sent batch.refused 0', reason: NO_REFUSAL },
  { place: 'stream.open.delivery.resting pause.requested 0', reason: ONE_ANSWER },
  { place: 'node.awaiting_reenrollment.looking error:lookForToken 0', reason: TOKEN_OR_NONE },
  {
    place: 'engine.stopping error:stopEngine 0',
    reason: 'stopping waits for the end of the process, which cannot fail',
  },
  { place: 'renewal.looking error:readClock 0', reason: CLOCK_ANSWERS },
  { place: 'node.enrolling error:enroll 0', reason: EXCHANGE_ANSWERS },
  {
    place: 'node.awaiting_reenrollment.exchanging error:reenroll 0',
    reason: EXCHANGE_ANSWERS,
  },
  { place: 'node.running error:startCollecting 0', reason: STARTS_AT_ONCE },
  { place: 'node.awaiting_reenrollment error:startCollecting 0', reason: STARTS_AT_ONCE },
];

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
