// What a checker is: it follows what happens, looks at the fleet now and then, and reports every broken promise with the
// moment and the names that matter. One file a property; `all.ts` lists them.
import type { Intervals } from '../../../machines/limits.ts';
import type { FaultKind } from '../faults/kinds.ts';
import type { Authority } from '../world/authority.ts';
import type { ConsoleHost } from '../world/console-host.ts';
import type { Copies } from '../world/copies.ts';
import type { NodeHost } from '../world/node-host.ts';
import type { Observation } from '../world/observation.ts';
import type { People } from '../world/people.ts';
import type { Publisher } from '../world/publisher.ts';
import type { SimulatedStores } from '../world/stores.ts';
import type { World } from '../world/world.ts';

/** The whole fleet as checkers may look at it; they change nothing. */
export type FleetView = {
  readonly world: World;
  readonly consoles: readonly ConsoleHost[];
  readonly nodes: readonly NodeHost[];
  readonly copies: Copies;
  readonly authority: Authority;
  readonly stores: SimulatedStores;
  readonly people: People;
  readonly publisher: Publisher;
  /** Who keep alert rules and saved searches. */
  readonly keepers: number;
  /** How many receive webhooks. */
  readonly receivers: number;
  /** Whether PostgreSQL may forget in this run what it confirmed. */
  readonly forgets: boolean;
  readonly intervals: Intervals;
  readonly spoolEventsMax: number;
  readonly binariesMax: number;
  /** Whether a fault is on now that excuses slowness; never a broken promise. */
  readonly isDisturbed: () => boolean;
  /** Kinds of the accidents that are on now. */
  readonly disturbances: () => readonly FaultKind[];
};

export type Violation = {
  readonly checker: string;
  readonly detail: string;
  /** True time. */
  readonly atMs: number;
  readonly kind: 'safety' | 'liveness';
};

export type Checker = {
  /** Each thing that happens, in order. */
  observe?(observation: Observation, atMs: number): void;
  /** A look at the fleet: every probe interval, and at the end. Must be cheap. */
  probe?(atMs: number): void;
  /** After all faults are healed and the fleet had its time: safety that only the end can tell. */
  finish?(atMs: number): void;
};

export type CheckerKind = {
  readonly name: string;
  /** The promise in one sentence, with the invariant it stands for. */
  readonly promise: string;
  make(fleet: FleetView, report: (detail: string) => void): Checker;
};
