// Where the Consoles under test keep what they know: the reference stores, unless a project of the runner puts others in
// their place (embedded-setup.ts), so that the same attacks run on the databases of production.
import { createMemoryRelational } from '../../storage/memory/memory-relational.ts';
import {
  createMemoryEvents,
  type MemoryMode,
} from '../../storage/memory/telemetry/memory-events.ts';
import type { AnalyticsStores, RelationalStores } from '../../storage/ports/stores.ts';
import { partOf } from './part.ts';

const RETRY_MS = 1_500;

export type Stores = {
  /** Away: every port behaves as when the database is gone. */
  readonly relational: RelationalStores & { setAway(away: boolean): Promise<void> };
  readonly events: AnalyticsStores & { setMode(mode: MemoryMode): Promise<void> };
  /** What the event store asks a sensor to wait while it is away. */
  readonly retryMs: number;
  /** Writes what waits; nothing answers afterwards. */
  close(): Promise<void>;
};

let open: () => Promise<Stores> = openMemory;
let areSlow = false;

/** Empty stores; hand them to two Consoles to make replicas. */
export const openStores = (): Promise<Stores> => open();

/** From now on every Console of this process keeps what it knows in these, which answer slower than memory. */
export function keepIn(opener: () => Promise<Stores>): void {
  open = opener;
  areSlow = true;
}

/** What of a long series is tried: all of it in memory. */
export const triedOf = <T>(series: readonly T[]): readonly T[] =>
  areSlow ? partOf(series) : series;

async function openMemory(): Promise<Stores> {
  const relational = createMemoryRelational();
  const events = createMemoryEvents(RETRY_MS);
  return {
    relational: { ...relational, setAway: async (away) => relational.setAway(away) },
    events: { ...events, setMode: async (mode) => events.setMode(mode) },
    retryMs: RETRY_MS,
    close: async () => undefined,
  };
}
