// What the accidents act on.
import type { Authority } from '../world/authority.ts';
import type { ConsoleHost } from '../world/console-host.ts';
import type { Copies } from '../world/copies.ts';
import type { Network } from '../world/network.ts';
import type { NodeHost } from '../world/node-host.ts';
import type { Operators } from '../world/operators.ts';
import type { SimulatedStores } from '../world/stores.ts';
import type { World } from '../world/world.ts';
import type { PlannedFault } from './kinds.ts';

export type FleetParts = {
  readonly world: World;
  readonly consoles: readonly ConsoleHost[];
  readonly nodes: readonly NodeHost[];
  readonly copies: Copies;
  readonly authority: Authority;
  /** Of a sensor's certificate. */
  readonly lifetimeMs: number;
  readonly network: Network;
  readonly stores: SimulatedStores;
  readonly operators: Operators;
};

/** The one of several that an accident meets. */
export function targetOf<T>(of: readonly T[], fault: PlannedFault): T {
  const one = of[Math.min(of.length - 1, Math.floor(fault.target * of.length))];
  if (one === undefined) throw new Error('there is nobody to meet');
  return one;
}

/** Nothing to end. */
export const overAtOnce = (): void => undefined;
