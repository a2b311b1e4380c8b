// A bug that is put into the simulated product to see whether a checker finds it. It replaces ports of a simulated
// process; the product itself has no such way in.
import type { Options } from '../options.ts';
import type { ConsoleTampering } from '../world/console-host.ts';
import type { NodeTampering } from '../world/node-host.ts';
import type { SimulatedStores } from '../world/stores.ts';
import type { World } from '../world/world.ts';

export type PlantedBug = {
  readonly name: string;
  /** What is wrong, in a sentence. */
  readonly mistake: string;
  /** The checker that must notice. */
  readonly foundBy: string;
  /** A short run in which the bug can show at all. */
  readonly options: Omit<Options, 'seed' | 'profile'>;
  /** A seed that finds it. */
  readonly pinnedSeed: string;
  /** Asked once a Console; the stores are those of the whole fleet. */
  readonly console?: (world: World, stores: SimulatedStores) => ConsoleTampering;
  /** Asked once a node. */
  readonly node?: (world: World) => NodeTampering;
};
