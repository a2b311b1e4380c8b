// What is not yet as it should be once every fault is healed.
import type { FleetView } from './checker.ts';

/** Names everything that is missing; empty when the fleet is well. */
export function whatIsMissing(fleet: FleetView): string[] {
  return fleet.nodes.filter((node) => node.state() !== 'running').map((node) => `${node.name} is ${node.state()}`);
}
