// Accidents that wait for the moment at which they do harm.

import { AUDIT_SEAL_BATCH_ROWS } from '../../../machines/limits.ts';
import { STATE_FILES } from '../../../sensor/state-directory/identity.ts';
import { STATE_DIR } from '../world/node-host.ts';
import { type FleetParts, overAtOnce, targetOf } from './fleet-parts.ts';
import type { FaultEffect, FaultKind } from './kinds.ts';

type TimedKind = Extract<
  FaultKind,
  'disk.unreadable_backlog' | 'console.clock_set_at_renewal' | 'console.stop_while_sealing'
>;
const JOURNAL = `${STATE_DIR}/${STATE_FILES.spool}`;
/** Events come a few at a time, so that most of them are only on the disk. */
const FLOODS_AT_MS = [0, 6_000, 12_000] as const;
const FLOOD_LINES = 30;
const BACK_AT_MS = 20_000;
const SET_BACK_MS = 3_600_000;
/** The Sensor has installed the certificate, and has not tried it yet. */
const BEFORE_TRIAL_MS = 6;

/** More than the sealer takes at once. */
const SCRIPT_ROWS = AUDIT_SEAL_BATCH_ROWS + 100;
const SEALING_SLOW_MS = { least: 500, most: 7_500 } as const;
const STOP_WITHIN_MS = 40_000;

/** The effects by kind. */
export function timedFaults(fleet: FleetParts): Readonly<Record<TimedKind, FaultEffect>> {
  const { world, network, nodes, consoles } = fleet;
  const { scheduler } = world;
  return {
    // What a node kept while it was cut off cannot be read when it is back.
    'disk.unreadable_backlog': (fault) => {
      const node = targetOf(nodes, fault);
      let isOn = true;
      network.link(node.name).cut = 'both';
      for (const atMs of FLOODS_AT_MS) scheduler.after(atMs, () => node.engine.flood(FLOOD_LINES));
      const come = (): void => {
        if (!isOn) return;
        node.disk.faults.turnOn('unreadable', JOURNAL);
        network.link(node.name).cut = 'none';
      };
      scheduler.after(BACK_AT_MS, come);
      return () => {
        isOn = false;
        node.disk.faults.turnOff('unreadable', JOURNAL);
        network.link(node.name).cut = 'none';
      };
    },
    'console.stop_while_sealing': stopWhileSealing(fleet),
    // The clock of the Consoles is set right, and the certificate just issued is from the future.
    'console.clock_set_at_renewal': (fault) => {
      const node = targetOf(nodes, fault);
      let isWaiting = true;
      let isSet = false;
      world.subscribe((observation) => {
        if (observation.kind !== 'certificate.issued' || !isWaiting) return;
        isWaiting = false;
        isSet = true;
        scheduler.after(1, () => {
          if (isSet) for (const { clock } of consoles) clock.jump(-SET_BACK_MS);
        });
        if (fault.severity < 0.5) return;
        scheduler.after(BEFORE_TRIAL_MS, () => {
          if (isSet) node.disk.faults.turnOn('readOnly');
        });
      });
      return () => {
        isWaiting = false;
        node.disk.faults.turnOff('readOnly');
        if (isSet) for (const { clock } of consoles) clock.jump(-clock.errorMs());
        isSet = false;
      };
    },
  };
}

/** An operator's script does a thousand things, the database gets slow, and the Console is stopped. */
function stopWhileSealing({ world: { scheduler }, consoles, stores }: FleetParts): FaultEffect {
  return (fault) => {
    const console = targetOf(consoles, fault);
    const { faults } = stores.relational;
    const atMs = console.clock.wallNow();
    const entries = Array.from({ length: SCRIPT_ROWS }, (_, at) => ({
      atMs,
      actor: 'operator',
      action: 'loop.run' as const,
      target: `${fault.id}/${at}`,
      result: 'ok',
      detail: {},
    }));
    console.running()?.relational.audit.append(entries).catch(overAtOnce);
    if (fault.severity < 0.3) return overAtOnce;
    faults.latencyMs = SEALING_SLOW_MS;
    let isOn = true;
    scheduler.after(STOP_WITHIN_MS * ((fault.target * 7_919) % 1), () => {
      if (isOn) console.stop();
    });
    return () => {
      isOn = false;
      faults.latencyMs = { least: 0, most: 0 };
      console.start();
    };
  };
}
