// What the engine of a simulated host offers the world around it, and what it is made with.
import type { EngineLauncher } from '../../../sensor/engine/engine-launcher.ts';
import type { HostClock } from './clocks.ts';
import type { SimulatedDisk } from './disk.ts';
import type { BuildKind } from './engine-builds.ts';
import type { Deed } from './engine-lines.ts';
import type { Life } from './life.ts';
import type { PolicyInForce } from './policy-observation.ts';
import type { World } from './world.ts';

export type SimulatedEngine = {
  /** The launcher of one life of the Sensor. */
  launcherFor(life: Life, stateDir?: string): EngineLauncher;
  /** Every running process ends with this code. */
  crash(code: number): void;
  /** No lines and no word, until it is off again or the process is killed. */
  setHang(on: boolean): void;
  /** So many lines within a second. */
  flood(lines: number): void;
  /** Lines that are no events, too long, or written in two halves. */
  garbage(): void;
  rotate(): void;
  /** Processes that are started from now on end at once. */
  setRefusal(on: boolean): void;
  /** As a hang, and not even a kill ends a process (it waits for a device) until it is off again. */
  setUnkillable(on: boolean): void;
  /** A package manager puts another build of the engine in the place of the one the Sensor carries. */
  replaceBuild(how: BuildKind): void;
  /** Somebody removes what was unpacked. */
  removeFiles(): void;
  /** No events of its own accord; it goes on saying that it is alive. */
  setQuiet(on: boolean): void;
  /** Hang, refusal and quiet off, and the build that is carried a good one. */
  heal(): void;
  /** Tells the lines that are not on the disk any more. A power loss and a wipe do it by themselves. */
  settle(): void;
  /** Processes that run now. */
  running(): number;
  /** Connections in the lines that were made, by direction and program; not all of them need have been written. */
  connections(): ReadonlyMap<string, number>;
  /** What was done in the line of a key. */
  deedOf(key: string): Deed | undefined;
  /** What the process that writes carries out; null when none does. */
  inForce(): readonly PolicyInForce[] | null;
  /** For how long a program is known at most, by the times in the lines. */
  knownForMs(binary: string): number;
};

export type SimulatedEngineOptions = {
  readonly world: World;
  readonly node: string;
  readonly disk: SimulatedDisk;
  /** The host's wall clock stamps lines and names backups; true time when absent. */
  readonly clock?: Pick<HostClock, 'wallNow'>;
  /** Mean time between events when nothing special happens; this and the sizes are drawn when absent. */
  readonly meanQuietMs?: number;
  /** Programs with habits beside the usual few; none when absent. */
  readonly programs?: number;
  /** Whether it carries out policies. */
  readonly carriesPolicies?: boolean;
  readonly rotateBytes?: number;
  readonly backupsMax?: number;
  readonly aliveEveryMs?: number;
};
