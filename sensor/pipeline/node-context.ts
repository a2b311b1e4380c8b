// What the pipeline may ask about the node beside the engine's lines: a process that still runs, and the workload a
// container belongs to. The answers add to an event; an event never waits for more than a bounded number of them.
import type { RuntimeEvent } from '../../machines/wire/event.ts';

export type Workload = NonNullable<RuntimeEvent['workload']>;
export type SeenProcess = {
  readonly pid: number;
  readonly parentPid: number;
  /** Clock ticks from boot to its start, a hundredth of a second each. */
  readonly startTicks: number;
  readonly uid: number | undefined;
  readonly binary: string;
  readonly arguments: string;
  readonly containerId: string | undefined;
  readonly networkNamespace: string | undefined;
};
export type NodeContext = {
  /** A process as the kernel shows it now; null when it has gone. Never rejects. */
  look(pid: number): Promise<SeenProcess | null>;
  /** The workload of a container, as far as it is known by now. */
  workloadOf(containerId: string): Workload | undefined;
};
