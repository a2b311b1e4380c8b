// What operators do to a fleet, ordered and by mistake.
import { type FleetParts, overAtOnce, targetOf } from './fleet-parts.ts';
import type { FaultEffect, FaultKind } from './kinds.ts';

const AGAIN_WITHIN_MS = 5_000;
const LATE_ANSWERS_MS = { least: 1, most: 4_000 } as const;

type OperatorKind = Extract<FaultKind, `operator.${string}`>;

/** The effects by kind. */
export function operatorFaults(fleet: FleetParts): Readonly<Record<OperatorKind, FaultEffect>> {
  const { operators, nodes, world } = fleet;
  const { faults } = fleet.stores.relational;
  return {
    'operator.revoke': (fault) => {
      const node = targetOf(nodes, fault);
      operators.revoke(node);
      const isEngineStuck = fault.severity < 0.3;
      if (isEngineStuck) node.engine.setUnkillable(true);
      // The machine is set up anew some time later; as a new sensor, since revocation is final.
      return () => {
        if (isEngineStuck) node.engine.setUnkillable(false);
        operators.recreate(node);
      };
    },
    'operator.revoke_twice': (fault) => {
      const node = targetOf(nodes, fault);
      operators.revoke(node);
      world.scheduler.after(fault.severity * AGAIN_WITHIN_MS, () => operators.revoke(node));
      return () => operators.recreate(node);
    },
    // It is revoked in the moment in which it re-enrolls, and the Console hears of the one before or after the other.
    'operator.revoke_at_reenrollment': (fault) => {
      const node = targetOf(nodes, fault);
      const sensorId = operators.sensorOf(node);
      let isWaiting = true;
      world.subscribe((seen) => {
        if (!isWaiting || seen.kind !== 'sensor.enrolled' || seen.sensor !== sensorId) return;
        isWaiting = false;
        operators.revoke(node);
      });
      faults.answerMs = LATE_ANSWERS_MS;
      node.end('killed');
      operators.reenroll(node);
      return () => {
        isWaiting = false;
        faults.answerMs = { least: 0, most: 0 };
        operators.recreate(node);
      };
    },
    'operator.wrong_token': (fault) => {
      const node = targetOf(nodes, fault);
      operators.giveWrongToken(node, fault.severity);
      return () => {
        if (operators.sensorOf(node) === null || !node.isUp()) operators.enrol(node);
      };
    },
    'operator.reenroll': (fault) => {
      operators.reenroll(targetOf(nodes, fault));
      return overAtOnce;
    },
    'operator.recreate': (fault) => {
      operators.recreate(targetOf(nodes, fault));
      return overAtOnce;
    },
    'operator.tokens': (fault) => {
      operators.playWithTokens(targetOf(nodes, fault), fault.severity);
      return overAtOnce;
    },
  };
}
