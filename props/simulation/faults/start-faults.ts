// Accidents at the start of a node: what its Sensor needs is not there, or it is stopped before it has begun.

import { STATE_FILES } from '../../../sensor/state-directory/identity.ts';
import type { DiskFault } from '../world/disk-faults.ts';
import { BOOT_ID, ENGINE_DIR, type NodeHost, STATE_DIR, statOf } from '../world/node-host.ts';
import { type FleetParts, overAtOnce, targetOf } from './fleet-parts.ts';
import type { FaultEffect, FaultKind } from './kinds.ts';

type StartKind = Extract<
  FaultKind,
  'node.stop_at_start' | 'node.bad_start' | 'node.start_ahead' | 'node.stop_stuck'
>;
/** A stop comes so long after the start at most. */
const STOP_WITHIN_MS = 8_000;
/** Longer than any certificate of a rough night lives. */
const AHEAD_MS = 2 * 3_600_000;
const TROUBLE_AFTER_MS = 6_000;
const DYING_WITHIN_MS = 25_000;
/** Before a disk that hangs answers. */
const SOON_MS = 10_000;
const JOURNAL = `${STATE_DIR}/${STATE_FILES.spool}`;
/** The process of a second Sensor on the same directory, and when it began. */
const OTHER = { pid: 4_242, startedAt: 77 } as const;

/** The effects by kind. */
export function startFaults(fleet: FleetParts): Readonly<Record<StartKind, FaultEffect>> {
  const { scheduler } = fleet.world;
  return {
    'node.bad_start': (fault) => {
      const node = targetOf(fleet.nodes, fault);
      if (!node.isUp()) return overAtOnce;
      node.end('killed');
      const hindrances = [
        without(node, 'readOnly'),
        without(node, 'foreign'),
        without(node, 'unreadable'),
        without(node, 'unreadable', JOURNAL),
        occupied(node),
        withoutEngine(node),
        withStuckLock(node),
        withFailingLock(fleet, node),
        onDyingDisk(fleet, node),
      ];
      const hinder = hindrances[Math.floor(fault.severity * hindrances.length)] ?? occupied(node);
      const end = hinder();
      node.start();
      return end;
    },
    // A clock that lost its battery: the certificate is over before the Sensor has begun.
    'node.start_ahead': (fault) => {
      const node = targetOf(fleet.nodes, fault);
      if (!node.isUp()) return overAtOnce;
      node.end('killed');
      node.clock.jump(AHEAD_MS);
      node.start();
      const { operators } = fleet;
      const { faults } = node.disk;
      let isOver = false;
      const troubles = [
        () => undefined,
        () => operators.giveWrongToken(node, 0),
        () => node.stop(),
        () => operators.reenroll(node),
        () => {
          faults.turnOn('slow');
          operators.reenroll(node);
          scheduler.after(fault.target * DYING_WITHIN_MS, () => {
            if (!isOver) faults.turnOn('unreadable');
          });
        },
      ];
      const trouble = troubles[Math.floor(fault.severity * troubles.length)];
      scheduler.after(TROUBLE_AFTER_MS, () => isOver || trouble?.());
      return () => {
        isOver = true;
        faults.turnOff('slow');
        faults.turnOff('unreadable');
        node.clock.jump(-node.clock.errorMs());
        operators.reenroll(node);
      };
    },
    // It is stopped while its disk or its engine does nothing more.
    'node.stop_stuck': (fault) => {
      const node = targetOf(fleet.nodes, fault);
      const { faults } = node.disk;
      const how = (['hang', 'readOnly', 'engine'] as const)[Math.floor(fault.severity * 3)];
      if (how === 'engine') node.engine.setUnkillable(true);
      else faults.turnOn(how ?? 'hang');
      node.stop();
      return () => {
        if (how === 'engine') node.engine.setUnkillable(false);
        else faults.turnOff(how ?? 'hang');
        node.start();
      };
    },
    'node.stop_at_start': (fault) => {
      const node = targetOf(fleet.nodes, fault);
      const { faults } = node.disk;
      if (!node.isUp()) return overAtOnce;
      node.end('killed');
      // On a fast disk a start takes no time; on a dead one it never ends.
      const how = (['slow', 'slow', 'hang'] as const)[Math.floor(fault.target * 97) % 3] ?? 'slow';
      faults.turnOn(how);
      node.start();
      scheduler.after(fault.severity ** 2 * STOP_WITHIN_MS, node.stop);
      return () => {
        faults.turnOff(how);
        node.start();
      };
    },
  };
}

/** The disk refuses, everywhere or in one place. */
function without({ disk: { faults } }: NodeHost, kind: DiskFault, where = '/'): () => () => void {
  return () => {
    faults.turnOn(kind, where);
    return () => faults.turnOff(kind, where);
  };
}

/** Another Sensor holds the state directory. */
function occupied({ disk }: NodeHost): () => () => void {
  const { pid, startedAt } = OTHER;
  return () => {
    disk.setKernelFile(`/proc/${pid}/stat`, statOf(pid, startedAt));
    disk.write(`${STATE_DIR}/.lock.${BOOT_ID.slice(0, 8)}.${pid}.${startedAt}`, '');
    return () => disk.setKernelFile(`/proc/${pid}/stat`, null);
  };
}

/** The engine's files are gone and cannot be put in place. */
function withoutEngine(node: NodeHost): () => () => void {
  return () => {
    node.engine.removeFiles();
    return without(node, 'readOnly', ENGINE_DIR)();
  };
}

/** The journal cannot be read, and the lock is not let go either. */
function withStuckLock(node: NodeHost): () => () => void {
  const boot = BOOT_ID.slice(0, 8);
  const lock = `${STATE_DIR}/.lock.${boot}.${process.pid}.${node.incarnation() + 1}`;
  return () => {
    const [readable, free] = [
      without(node, 'unreadable', JOURNAL)(),
      without(node, 'hang', lock)(),
    ];
    return () => {
      readable();
      free();
    };
  };
}

/** The journal cannot be read, and by the time that shows, nothing can be written. */
function withFailingLock({ world }: FleetParts, node: NodeHost): () => () => void {
  return () => {
    let isOver = false;
    const ends = [
      without(node, 'unreadable', JOURNAL)(),
      without(node, 'hang', JOURNAL)(),
      () => node.disk.faults.turnOff('readOnly'),
    ];
    world.scheduler.after(SOON_MS, () => {
      if (!isOver) node.disk.faults.turnOn('readOnly');
    });
    return () => {
      isOver = true;
      for (const end of ends) end();
    };
  };
}

/** The node is made anew on a disk that gets slow, and then cannot be read. */
function onDyingDisk({ world, operators }: FleetParts, node: NodeHost): () => () => void {
  return () => {
    const { faults } = node.disk;
    operators.recreate(node);
    faults.turnOn('slow');
    const dyingMs = world.random.fork(`dying ${world.scheduler.now()}`).next() * DYING_WITHIN_MS;
    let isOver = false;
    world.scheduler.after(dyingMs, () => {
      if (!isOver) faults.turnOn('unreadable');
    });
    return () => {
      isOver = true;
      faults.turnOff('slow');
      faults.turnOff('unreadable');
    };
  };
}
