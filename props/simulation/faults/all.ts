// Every kind of accident with its effect.
import type { FleetParts } from './fleet-parts.ts';
import { hostFaults } from './host-faults.ts';
import type { FaultEffect, FaultKind } from './kinds.ts';
import { networkFaults } from './network-faults.ts';
import { operatorFaults } from './operator-faults.ts';
import { storeFaults } from './store-faults.ts';

/** The effects on one fleet. */
export function effectsOn(fleet: FleetParts): Readonly<Record<FaultKind, FaultEffect>> {
  return {
    ...networkFaults(fleet),
    ...hostFaults(fleet),
    ...storeFaults(fleet),
    ...operatorFaults(fleet),
  };
}
