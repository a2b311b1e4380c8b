// A bench for the tests of the simulated stores: a world, both stores, and Consoles that are nothing but their ports.
import { createHostClock } from './clocks.ts';
import { beginLife, type Life } from './life.ts';
import type { Observation } from './observation.ts';
import { createSimulatedStores, type SimulatedStores } from './stores.ts';
import { createWorld, type World } from './world.ts';

export const LONG_MS = 60_000;

export type Bench = {
  readonly world: World;
  readonly stores: SimulatedStores;
  readonly seen: Observation[];
  begin(host: string): BareConsole;
  pass(ms: number): Promise<void>;
};

/** Makes a bench with nothing broken. */
export function bench(seed = 'stores'): Bench {
  const world = createWorld(seed);
  const stores = createSimulatedStores(world, { keyOfEvent: (one) => one.event_id });
  const seen: Observation[] = [];
  world.subscribe((observation) => seen.push(observation));
  let lives = 0;
  return {
    world,
    stores,
    seen,
    begin(host) {
      lives += 1;
      return consoleOn(stores, beginLife(world.scheduler, { host, incarnation: lives }), world);
    },
    pass: (ms) => world.scheduler.runUntil(world.scheduler.now() + ms),
  };
}

export type BareConsole = ReturnType<typeof consoleOn>;

function consoleOn(stores: SimulatedStores, life: Life, world: World) {
  const clock = createHostClock(world.scheduler);
  const relational = stores.relationalFor(life, clock);
  // Both have a port named `health`; that of the relational stores is meant.
  return { life, ...stores.analyticsFor(life, clock), ...relational, relational };
}

/** What has become of a promise by now, and when. */
export function follow<T>(world: World, promise: Promise<T>) {
  const outcome: { state: 'waiting' | 'ok' | 'failed'; value: unknown; atMs: number } = {
    state: 'waiting',
    value: null,
    atMs: -1,
  };
  const end = (state: 'ok' | 'failed') => (value: unknown) => {
    Object.assign(outcome, { state, value, atMs: world.scheduler.now() });
  };
  promise.then(end('ok'), end('failed'));
  return outcome;
}
