// A bug that is put into the simulated product to see whether a checker finds it. It replaces ports of a simulated
// process; the product itself has no such way in.

import type { Options } from '../options.ts';
import type { ConsoleTampering } from '../world/console-host.ts';
import type { NodeTampering } from '../world/node-host.ts';
import type { World } from '../world/world.ts';

export type PlantedBug = {
  readonly name: string;
  /** What is wrong, in a sentence. */
  readonly mistake: string;
  /** The checker that must notice. */
  readonly foundBy: string;
  /** Options under which the bug can show at all. */
  readonly options?: Partial<Omit<Options, 'seed' | 'profile'>>;
  readonly console?: (world: World) => ConsoleTampering;
  readonly node?: (world: World) => NodeTampering;
};
