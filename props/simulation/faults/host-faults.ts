// Accidents of hosts: processes end, power goes, clocks jump, disks refuse, engines fail.

import type { DiskFault } from '../world/disk-faults.ts';
import { BUILD_KINDS } from '../world/engine-builds.ts';
import type { TakenFirst } from '../world/life.ts';
import type { NodeHost } from '../world/node-host.ts';
import { copyFaults } from './copy-faults.ts';
import { type FleetParts, overAtOnce, targetOf } from './fleet-parts.ts';
import type { FaultEffect, FaultKind, PlannedFault } from './kinds.ts';
import { rootFaults } from './root-faults.ts';
import { startFaults } from './start-faults.ts';
import { timedFaults } from './timed-faults.ts';

type HostKind = Extract<
  FaultKind,
  `node.${string}` | `disk.${string}` | `engine.${string}` | `console.${string}`
>;
const CALLS_MAX = 400;
const RESTART_AFTER_MS = 15_000;
const JUMPS_MS = [1_500, 60_000, 200_000, 3_600_000, 26 * 3_600_000] as const;

/** The effects by kind. */
export function hostFaults(fleet: FleetParts): Readonly<Record<HostKind, FaultEffect>> {
  const onNode =
    (begin: (node: NodeHost, fault: PlannedFault) => () => void): FaultEffect =>
    (fault) =>
      begin(targetOf(fleet.nodes, fault), fault);
  const disk = (kind: DiskFault): FaultEffect =>
    onNode(({ disk: { faults } }) => {
      faults.turnOn(kind);
      return () => faults.turnOff(kind);
    });
  const downFor =
    (how: 'killed' | 'power_lost' | 'stopped'): FaultEffect =>
    (fault) => {
      const node = targetOf(fleet.nodes, fault);
      if (!node.isUp()) return overAtOnce;
      if (how === 'stopped') node.stop();
      else node.end(how);
      return node.start;
    };
  const consoleDownFor =
    (how: 'killed' | 'power_lost' | 'stopped'): FaultEffect =>
    (fault) => {
      const console = targetOf(fleet.consoles, fault);
      if (how === 'stopped') console.stop();
      else console.end(how);
      return console.start;
    };
  return {
    'node.kill': downFor('killed'),
    'node.power_loss': downFor('power_lost'),
    'node.stop': downFor('stopped'),
    ...copyFaults(fleet),
    ...rootFaults(fleet),
    ...startFaults(fleet),
    ...timedFaults(fleet),
    // A debugger, a freezer of containers, a machine that swaps: no turn for anybody in the process.
    'node.pause': onNode((node, fault) => node.pause(takenFirst(fault))),
    'console.pause': (fault) => targetOf(fleet.consoles, fault).pause(takenFirst(fault)),
    'node.kill_at_call': onNode((node, fault) => {
      const calls = 1 + (Math.floor(fault.target * 7_919 * CALLS_MAX) % CALLS_MAX);
      const when = fault.severity < 0.5 ? 'before' : 'after';
      node.ambush(calls, when, (fault.severity * 7) % 1 < 0.5 ? 'killed' : 'power_lost');
      return node.start;
    }),
    'node.clock_jump': onNode((node, fault) => {
      node.clock.jump(jumpOf(fault));
      return () => node.clock.jump(-node.clock.errorMs());
    }),
    'disk.full': disk('full'),
    'disk.read_only': disk('readOnly'),
    'disk.fail_sync': disk('failSync'),
    'disk.slow': disk('slow'),
    'disk.hang': disk('hang'),
    'disk.unreadable': disk('unreadable'),
    'engine.crash': onNode((node, fault) => {
      node.engine.crash(Math.floor(fault.severity * 3));
      return overAtOnce;
    }),
    'engine.hang': onNode((node) => {
      node.engine.setHang(true);
      return () => node.engine.setHang(false);
    }),
    'engine.flood': onNode((node, fault) => {
      node.engine.flood(Math.floor(10 * 200 ** fault.severity));
      return overAtOnce;
    }),
    'engine.garbage': onNode((node) => {
      node.engine.garbage();
      return overAtOnce;
    }),
    'engine.rotate': onNode((node) => {
      node.engine.rotate();
      return overAtOnce;
    }),
    'engine.refuse': onNode((node, { severity }) => {
      node.engine.setRefusal(true);
      return () => {
        node.engine.setRefusal(false);
        // Some people restart the whole Sensor for it.
        if (severity > 0.5 || !node.isUp()) return;
        node.stop();
        fleet.world.scheduler.after(RESTART_AFTER_MS, node.start);
      };
    }),
    'engine.upgrade': onNode((node) => {
      node.engine.replaceBuild('good');
      return overAtOnce;
    }),
    'engine.bad_upgrade': onNode((node, { severity }) => {
      const broken = BUILD_KINDS.filter((how) => how !== 'good');
      node.engine.replaceBuild(broken[Math.floor(severity * broken.length)] ?? 'ends');
      return () => node.engine.replaceBuild('good');
    }),
    'engine.unkillable': onNode((node) => {
      node.engine.setUnkillable(true);
      return () => node.engine.setUnkillable(false);
    }),
    'console.kill': consoleDownFor('killed'),
    'console.power_loss': consoleDownFor('power_lost'),
    'console.stop': consoleDownFor('stopped'),
    'console.kill_at_call': (fault) => {
      const console = targetOf(fleet.consoles, fault);
      const calls = 1 + (Math.floor(fault.target * 7_919 * CALLS_MAX) % CALLS_MAX);
      console.ambush(calls, fault.severity < 0.5 ? 'before' : 'after');
      return console.start;
    },
    'console.clock_jump': (fault) => {
      const { clock } = targetOf(fleet.consoles, fault);
      clock.jump(jumpOf(fault));
      return () => clock.jump(-clock.errorMs());
    },
  };
}

function takenFirst({ severity }: PlannedFault): TakenFirst {
  return severity < 0.5 ? 'timers' : 'words';
}

function jumpOf({ severity }: PlannedFault): number {
  const size = JUMPS_MS[Math.floor(severity * JUMPS_MS.length)] ?? JUMPS_MS[0];
  return (severity * 13) % 1 < 0.5 ? size : -size;
}
