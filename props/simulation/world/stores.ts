// Both stores of the simulated fleet. They outlive every Console: each life of a Console gets ports of its own over the
// one durable state.
import { DEFAULT_INTERVALS } from '../../../machines/intervals.ts';
import type { Intervals } from '../../../machines/limits.ts';
import type { RuntimeEvent } from '../../../machines/wire/event.ts';
import type { Logger } from '../../../storage/ports/plumbing/logger.ts';
import { type HostClock, timeOf } from './clocks.ts';
import type { Life } from './life.ts';
import type { RealRelational } from './real-relational.ts';
import {
  createSimulatedAnalytics,
  type SimulatedAnalytics,
  type SimulatedAnalyticsPorts,
} from './stores-analytics.ts';
import {
  createSimulatedRelational,
  type SimulatedRelational,
  type SimulatedRelationalPorts,
} from './stores-relational.ts';
import type { World } from './world.ts';

type Clock = HostClock & { readonly rate: number };

export type SimulatedStoresOptions = {
  /** The key the engine gave an event, as the checkers know it. */
  readonly keyOfEvent: (event: RuntimeEvent) => string;
  readonly intervals?: Intervals;
  /** Whether the relational one may forget. */
  readonly forgets?: boolean;
  /** A real PostgreSQL, which answers in place of the simulated one. */
  readonly real?: RealRelational | undefined;
  /** Hears the stores' own log lines; nobody unless told. */
  readonly logger?: Logger;
};

export type SimulatedStores = {
  readonly relational: SimulatedRelational;
  readonly analytics: SimulatedAnalytics;
  /** Every relational port of one Console life. */
  relationalFor(life: Life, clock: Clock): SimulatedRelationalPorts;
  /** Sink and event store of one Console life. */
  analyticsFor(life: Life, clock: Clock): SimulatedAnalyticsPorts;
  /** Turns every fault of both stores off. */
  heal(): void;
};

const silent = (): void => undefined;
const SILENT: Logger = { debug: silent, info: silent, warn: silent, error: silent };

/** Makes both stores, empty. */
export function createSimulatedStores(
  world: World,
  options: SimulatedStoresOptions,
): SimulatedStores {
  const { keyOfEvent, intervals = DEFAULT_INTERVALS, logger = SILENT, forgets = false } = options;
  const relational = createSimulatedRelational({
    world,
    logger,
    intervals,
    forgets,
    real: options.real,
  });
  const analytics = createSimulatedAnalytics({ world, logger, intervals, keyOfEvent });
  return {
    relational,
    analytics,
    relationalFor: (life, clock) => relational.portsFor(life, timeOf(life, clock)),
    analyticsFor: (life, clock) => analytics.portsFor(life, timeOf(life, clock)),
    heal() {
      relational.heal();
      analytics.heal();
    },
  };
}
