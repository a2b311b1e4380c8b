// The fleet in memory: one actor per enrolled sensor, the live view, the identity cache, and the recorder of moves.
// Filled from PostgreSQL before the port opens. decision: D4, D10
import { createFleetLiveView, type FleetLiveView } from '../../../actors/fleet/fleet-live-view.ts';
import { followIdentities } from '../../../actors/fleet/identity-follower.ts';
import { createNodeMachines, type NodeMachines } from '../../../actors/fleet/node-machines.ts';
import {
  createSensorDirectory,
  type SensorDirectory,
  sensorInputOf,
} from '../../../actors/fleet/sensor.actor.ts';
import {
  startTransitionRecorder,
  type TransitionRecorder,
} from '../../../actors/fleet/transition-recorder.ts';
import { clockLoop } from '../../../actors/loops/clock-loop.ts';
import type { UpkeepLoop } from '../../../actors/loops/loop.ts';
import type { ClockJump } from '../../../actors/runtime/clock-watch.ts';
import {
  createInspectionFeed,
  type InspectionFeed,
} from '../../../actors/runtime/inspection-feed.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import {
  type CrashLog,
  createCrashLog,
  createSupervisor,
} from '../../../actors/runtime/supervisor.ts';
import type { WheelClock } from '../../../actors/runtime/wheel-clock.ts';
import { sensorActorsOf } from '../../../actors/telemetry/sensor-actors.ts';
import { type IdentityCache, openIdentityCache } from '../../../actors/trust/identity-cache.ts';
import type { SensorActors } from '../../../actors/trust/sensor-actors.ts';
import type { Intervals } from '../../../machines/limits.ts';
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { Time } from '../../../storage/ports/plumbing/clock.ts';
import type { EventStore } from '../../../storage/ports/telemetry/event-store.ts';

export type Fleet = {
  readonly feed: InspectionFeed;
  readonly crashes: CrashLog;
  readonly directory: SensorDirectory;
  readonly liveView: FleetLiveView;
  readonly recorder: TransitionRecorder;
  readonly nodeMachines: NodeMachines;
  readonly sensors: SensorActors;
  readonly identities: IdentityCache;
  readonly loops: readonly UpkeepLoop[];
  close(): Promise<void>;
};

const FORGOTTEN = 'revoked before the database went back to an earlier time';

/** Builds the fleet from the registry. Throws when the registry cannot be read. */
export async function openFleet(deps: {
  readonly registry: SensorRegistry;
  readonly events: Pick<EventStore, 'insertTransitions'>;
  readonly clock: WheelClock;
  readonly time: Time;
  readonly intervals: Intervals;
  readonly logger: Logger;
}): Promise<Fleet> {
  const { registry, time, intervals, logger } = deps;
  const feed = createInspectionFeed();
  const crashes = createCrashLog(logger);
  const { directory, liveView } = openDirectory({ ...deps, feed, crashes });
  const recorder = startTransitionRecorder({
    feed,
    store: deps.events,
    intervalMs: intervals.TRANSITIONS_COMMIT_INTERVAL_MS,
    logger,
  });
  const sensors = sensorActorsOf(directory, intervals, time.now);
  const identities = await openIdentityCache({
    registry,
    revokeAgain: (sensorId) =>
      registry.revoke({ sensorId, reason: FORGOTTEN, actor: 'console', nowMs: time.now() }),
    overlapMs: intervals.PREVIOUS_CERTIFICATE_OVERLAP_MS,
    timers: time,
    monotonicNow: time.monotonicNow,
    logger,
  });
  // Before the sensors are read: what changes meanwhile is heard.
  const stopFollowing = followIdentities({
    ...{ identities, directory, sensors, registry, logger },
    timers: time,
  });
  for (const row of await registry.loadSensors()) sensors.open(row);
  logger.info(
    { sensors: directory.size(), certificates: identities.size() },
    'the fleet is loaded',
  );

  return {
    feed,
    crashes,
    directory,
    liveView,
    recorder,
    nodeMachines: createNodeMachines(recorder),
    sensors,
    identities,
    loops: [recorder.loop, jumpsOf(directory, deps)],
    async close() {
      stopFollowing();
      await identities.stop();
      await recorder.close();
      directory.closeAll();
    },
  };
}

/** Tells every sensor of jumps of the wall clock, and of pauses: a process that had no turns heard nobody. decision: D14 */
function jumpsOf(
  directory: SensorDirectory,
  { time, logger }: { readonly time: Time; readonly logger: Logger },
): UpkeepLoop {
  const tellAll = (jump: ClockJump): void => {
    for (const id of directory.ids()) directory.tell(id, { type: 'clock.jumped', ...jump });
  };
  return clockLoop({
    name: 'fleet-clock',
    now: time.now,
    monotonicNow: time.monotonicNow,
    onJump(jump) {
      logger.warn({ byMs: jump.byMs }, 'the wall clock jumped');
      tellAll(jump);
    },
    onPause(pause) {
      logger.warn({ byMs: pause.byMs }, 'this process was paused');
      tellAll(pause);
    },
  });
}

function openDirectory(deps: {
  readonly registry: SensorRegistry;
  readonly clock: WheelClock;
  readonly time: Time;
  readonly intervals: Intervals;
  readonly logger: Logger;
  readonly feed: InspectionFeed;
  readonly crashes: CrashLog;
}): { directory: SensorDirectory; liveView: FleetLiveView } {
  const { registry, clock, time, intervals, logger, feed, crashes } = deps;
  const liveView = createFleetLiveView({
    now: time.now,
    snapshotOf: (id) => {
      const view = directory.ask(id);
      return view === 'absent' ? undefined : view.snapshot;
    },
  });
  const directory: SensorDirectory = createSensorDirectory({
    clock,
    feed,
    crashes,
    supervisor: createSupervisor(time.monotonicNow),
    now: time.now,
    rebuild: async (id) => {
      const row = await registry.getSensor(id);
      return row === null ? null : sensorInputOf(row, time.now(), intervals);
    },
    onRebuildFailed: (id, error) =>
      logger.error({ sensorId: id, error: String(error) }, 'a sensor actor could not be rebuilt'),
    onSnapshot: (id, snapshot) => liveView.observe(id, snapshot),
  });
  return { directory, liveView };
}
