// What operators do to a fleet, ordered and by mistake.
import { type FleetParts, overAtOnce, targetOf } from './fleet-parts.ts';
import type { FaultEffect, FaultKind } from './kinds.ts';

const AGAIN_WITHIN_MS = 5_000;

type OperatorKind = Extract<FaultKind, `operator.${string}`>;

/** The effects by kind. */
export function operatorFaults(fleet: FleetParts): Readonly<Record<OperatorKind, FaultEffect>> {
  const { operators, nodes, world } = fleet;
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
