// What is not yet as it should be once all faults are healed. A node that nobody ever enrolled, or that was revoked, owes
// nothing but to know it; every other one must be up, trusted and healthy on some Console, its stream open, its spool
// empty, and everything its engine wrote delivered as far as the Sensor has it. Every person must have got in.

import { regionsOfSensor } from '../../../actors/fleet/sensor.actor.ts';
import { healthFactsOf } from '../../../machines/console/fleet/sensor.rules.ts';
import { trustHealth } from '../../../machines/trust/health.rules.ts';
import type { SensorRow } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { RunningConsole } from '../world/console-host.ts';
import type { NodeHost } from '../world/node-host.ts';
import { overdueDeliveries } from './alerts-arrive.ts';
import { awaitedPacks } from './assigned-packs.ts';
import type { FleetView } from './checker.ts';
import { stateOf, statusOf } from './node-files.ts';

/** Events that may be on their way at any moment of an ordinary day. */
const IN_FLIGHT_MAX = 20;

/** A trouble that is over is watched for so long before it counts as nothing but past. */
const AFTERMATH_MS = 60_000;

/**
 * For how long nothing will change by itself: null when anything is wrong, without end when all is well. Events under way
 * are nothing wrong. Nor is a node that has all it needs and is called degraded for nothing but an error that is past: its
 * window is waited for, and its end is seen. A node that the license keeps out stays out until somebody imports another.
 */
export function calmForMs(fleet: FleetView): number | null {
  const nodes = fleet.nodes.filter((node) => !isKeptOut(node));
  if (missingWith({ ...fleet, nodes }, IN_FLIGHT_MAX, isWellOrWaits).length > 0) return null;
  const waits = fleet.nodes.flatMap((node) => {
    const sensor = identityOf(fleet, node);
    if (sensor === undefined || isWell(fleet, sensor.sensorId)) return [];
    return viewsOf(fleet, sensor.sensorId).flatMap(({ endsInMs }) => endsInMs ?? []);
  });
  return Math.min(Number.POSITIVE_INFINITY, ...waits);
}

/** Refused for want of a larger license; its service manager starts it no more. */
export function isKeptOut(node: Pick<NodeHost, 'isUp' | 'lastExit'>): boolean {
  return !node.isUp() && node.lastExit()?.reason?.startsWith('license_limit') === true;
}

/** One sentence for each thing that is missing; none when the fleet is well. */
export function whatIsMissing(fleet: FleetView): string[] {
  const missing = [
    ...missingWith(fleet, 0, isWell),
    ...fleet.people.missing(),
    ...overdueDeliveries(fleet),
    ...fleet.publisher.missing(),
    ...awaitedPacks(fleet),
  ];
  const tail = fleet.stores.relational.auditTail();
  if (tail > 0) missing.push(`${tail} audit rows are not sealed`);
  return missing;
}

type Judge = (fleet: FleetView, sensorId: string) => boolean;

function missingWith(fleet: FleetView, spooledMax: number, judge: Judge): string[] {
  const missing: string[] = [];
  for (const console of fleet.consoles) {
    const running = console.running();
    if (running === null) missing.push(`${console.name} does not serve`);
    else if (!isSure(running, console.clock.wallNow())) {
      missing.push(`${console.name} has not read yet who was revoked`);
    }
  }
  for (const node of fleet.nodes) {
    missing.push(...missingOf(fleet, node, spooledMax, judge));
  }
  return missing;
}

/** A Console that lost the word of changes trusts nobody until it has read them all. */
function isSure({ fleet }: RunningConsole, nowMs: number): boolean {
  const verdict = fleet.identities.judge('a certificate of nobody', nowMs);
  return verdict.ok || verdict.code !== 'trust_unavailable';
}

function missingOf(fleet: FleetView, node: NodeHost, spooledMax: number, judge: Judge): string[] {
  const { name } = node;
  const sensor = identityOf(fleet, node);
  if (sensor === undefined) {
    const isNew = newestOf(fleet, name) === undefined && !isForgotten(fleet, node);
    return isNew && !node.isUp() ? [] : [`${name} has no identity`];
  }
  const status = statusOf(node);
  if (sensor.revokedAtMs !== null) {
    const isTold = stateOf(node)?.trust_state === 'trust_revoked';
    return isTold ? [] : [`${name} was revoked and does not know it`];
  }
  if (!node.isUp()) return [`${name} is down`];
  if (status?.state !== 'running') return [`${name} is ${status?.state ?? 'silent'}`];
  const found: string[] = [];
  if (!judge(fleet, sensor.sensorId))
    found.push(`${name} is well on no Console: ${healthsOf(fleet, sensor.sensorId)}`);
  if (typeof status.clock_dispute === 'string') found.push(`${name} says ${status.clock_dispute}`);
  if (!status.is_stream_open) found.push(`${name} has no stream`);
  if (status.spool.depth > spooledMax) found.push(`${name} holds ${status.spool.depth} events`);
  return found;
}

/** It has an identity that PostgreSQL knew once. */
function isForgotten({ stores }: FleetView, node: NodeHost): boolean {
  return stores.relational.nodeOf(stateOf(node)?.sensor_id ?? '') !== undefined;
}

/** The sensor that the node's own files name, as the registry knows it. */
function identityOf(fleet: FleetView, node: NodeHost): SensorRow | undefined {
  return fleet.stores.relational.state.sensors.get(stateOf(node)?.sensor_id ?? '');
}

function newestOf(fleet: FleetView, name: string): SensorRow | undefined {
  return [...fleet.stores.relational.state.sensors.values()].findLast(
    (one) => one.nodeName === name,
  );
}

function viewsOf(fleet: FleetView, sensorId: string) {
  return fleet.consoles.flatMap((console) => {
    const view = console.running()?.fleet.directory.ask(sensorId);
    if (view === undefined || view === 'absent') return [];
    const regions = regionsOfSensor(view.snapshot);
    const facts = healthFactsOf(view.snapshot.context);
    const nowMs = console.clock.wallNow();
    const { health, because } = trustHealth(facts, view.snapshot.context.windows, nowMs);
    const isPast = because.every(({ code }) => code === 'connection_error_recent');
    const { lastConnectionErrorAtMs } = facts;
    const endsInMs =
      health === 'degraded' && isPast && lastConnectionErrorAtMs !== null
        ? lastConnectionErrorAtMs + view.snapshot.context.windows.trustErrorMs - nowMs
        : null;
    const agoMs = nowMs - (lastConnectionErrorAtMs ?? Number.NEGATIVE_INFINITY);
    return { console: console.name, health, because, regions, endsInMs, agoMs };
  });
}

// Several Consoles on one database know the same identities, but each one's actors hear only the heartbeats and streams
// that came to it. A stream may be open at one while heartbeats reach another, and what the first one heard long ago
// stands there; so the sensor is held to be healthy on one of them, and fresh by an open stream on one of them. A recent
// trouble keeps a sensor from `healthy` for its window: that is the rule, and the fleet is given that time.
function isWell(fleet: FleetView, sensorId: string): boolean {
  const views = viewsOf(fleet, sensorId);
  return (
    views.some(({ health, regions }) => health === 'healthy' && regions.freshness === 'fresh') &&
    views.some(({ regions }) => regions.stream === 'open' && regions.freshness === 'fresh')
  );
}

/** It is well, or will be once enough time has passed since an error that is over. */
function isWellOrWaits(fleet: FleetView, sensorId: string): boolean {
  const fresh = viewsOf(fleet, sensorId).filter(({ regions }) => regions.freshness === 'fresh');
  const isFine = fresh.some(
    ({ health, endsInMs, agoMs }) =>
      health === 'healthy' || (endsInMs !== null && agoMs >= AFTERMATH_MS),
  );
  return isFine && fresh.some(({ regions }) => regions.stream === 'open');
}

function healthsOf(fleet: FleetView, sensorId: string): string {
  return viewsOf(fleet, sensorId)
    .map(
      ({ console, health, because, regions }) =>
        `${console} says ${health} (${because.map(({ code }) => code).join(', ')}), ${regions.freshness}, stream ${regions.stream}`,
    )
    .join('; ');
}
