// The fleet: an actor for every enrolled sensor, who they are, what is known of them, and how operators sort them.
// decision: D4, D10, D43

import { Gauge, type Registry } from '@prometheus-io/client';
import type { UserService } from '../../../actors/access/users.ts';
import type { FleetLiveView } from '../../../actors/fleet/fleet-live-view.ts';
import { fleetSweepLoop } from '../../../actors/fleet/fleet-sweep.ts';
import type { NodeMachines } from '../../../actors/fleet/node-machines.ts';
import { followRenewalWindow } from '../../../actors/fleet/renewal-window.ts';
import { sensorMachine } from '../../../machines/console/fleet/sensor.machine.ts';
import type { Capability } from '../../capability.ts';
import { groupRoutes, teamRoutes } from '../../operator-plane/fleet/labels.ts';
import { sensorChangeRoutes } from '../../operator-plane/fleet/sensor-changes.ts';
import { sensorHistoryRoutes } from '../../operator-plane/fleet/sensor-history.ts';
import { sensorRoutes } from '../../operator-plane/fleet/sensors.ts';
import type { HeartbeatPart } from '../../sensor-plane/heartbeat-part.ts';
import { access } from '../access/access.ts';
import { settings } from '../settings/settings.ts';
import { type Fleet, openFleet } from './open-fleet.ts';

export const fleet: Capability<Fleet> = {
  name: 'fleet',
  async open(context) {
    const { relational, analytics, clock, time, intervals, logger, cursors, chance } = context;
    const { sensors: registry, teams } = relational;
    const { events } = analytics;
    const opened = await openFleet({ registry, events, clock, time, intervals, logger });
    const stopFollowing = followRenewalWindow({
      settings: context.use(settings),
      sensors: opened.directory,
      now: time.now,
    });
    const { liveView, directory: sensorActors, feed, recorder, nodeMachines } = opened;
    // Asked when a request comes, which is after both have opened.
    const judgeReach: UserService['judge'] = (by, userIds) =>
      context.use(access).people.service.judge(by, userIds);
    const deps = { registry, teams, judgeReach, events, cursors, chance, now: time.now };
    const routes = { ...deps, fleet: liveView, sensorActors, feed, recorder, nodeMachines };
    return {
      service: opened,
      operatorRoutes: () => [
        sensorRoutes(routes),
        sensorChangeRoutes(routes),
        sensorHistoryRoutes(routes),
        teamRoutes(routes),
        groupRoutes(routes),
      ],
      heartbeatParts: [machinesPart(nodeMachines)],
      machines: [sensorMachine],
      directories: [sensorActors],
      loops: () => [fleetSweepLoop(liveView), ...opened.loops],
      measure: (metrics) => measureFleet(metrics, liveView),
      async close() {
        stopFollowing();
        await opened.close();
      },
    };
  },
};

function machinesPart(nodeMachines: NodeMachines): HeartbeatPart {
  return {
    take({ sensorId }, { machines }, nowMs) {
      if (machines !== undefined) nodeMachines.take(sensorId, machines, nowMs);
    },
  };
}

function measureFleet(registry: Registry, { counts }: Pick<FleetLiveView, 'counts'>): void {
  new Gauge({
    name: 'service_sensors',
    help: 'Enrolled sensors by trust health.',
    labelNames: ['trust_health'],
    registers: [registry],
    collect() {
      const { total: _total, streams: _streams, ...healths } = counts();
      for (const [health, count] of Object.entries(healths))
        this.set({ trust_health: health }, count);
    },
  });
  new Gauge({
    name: 'service_sensor_streams_open',
    help: 'Sensors with an open stream.',
    registers: [registry],
    collect() {
      this.set(counts().streams);
    },
  });
}
