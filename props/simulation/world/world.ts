// The ground everything simulated stands on: time, chance, and the log of what happened.
import { createHash } from 'node:crypto';
import type { Observation } from './observation.ts';
import { createRandom, type Random } from './random.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';

export type Logged = { readonly atMs: number; readonly observation: Observation };
export type World = {
  readonly seed: string;
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** Records what happened, then tells the checkers. */
  observe(observation: Observation): void;
  subscribe(listener: (observation: Observation, atMs: number) => void): void;
  /** A crash of the simulation or of a product process that nobody ordered. Ends the run. */
  crashed(where: string, error: unknown): void;
  /** What crashed, first one first. */
  crashes(): readonly string[];
  readonly log: {
    /** SHA-256 over every observation with its time. */
    hash(): string;
    size(): number;
    /** Observations of each kind. */
    counts(): Readonly<Record<string, number>>;
    /** The last ones, oldest first. */
    recent(): readonly Logged[];
  };
};

const RECENT_MAX = 4_000;

/** Makes an empty world. */
export function createWorld(seed: string): World {
  const listeners: ((observation: Observation, atMs: number) => void)[] = [];
  const crashes: string[] = [];
  const hash = createHash('sha256');
  const counts = new Map<string, number>();
  let recent: Logged[] = [];
  let size = 0;
  const world: World = {
    seed,
    random: createRandom(seed),
    scheduler: createScheduler({ onError: (error) => world.crashed('a timer', error) }),
    observe(observation) {
      const atMs = world.scheduler.now();
      size += 1;
      counts.set(observation.kind, (counts.get(observation.kind) ?? 0) + 1);
      hash.update(`${atMs} ${JSON.stringify(observation)}\n`);
      recent.push({ atMs, observation });
      if (recent.length >= 2 * RECENT_MAX) recent = recent.slice(-RECENT_MAX);
      for (const listener of listeners) listener(observation, atMs);
    },
    subscribe: (listener) => void listeners.push(listener),
    crashed(where, error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      crashes.push(`${where}: ${text}`);
      world.scheduler.halt();
    },
    crashes: () => crashes,
    log: {
      hash: () => hash.copy().digest('hex'),
      size: () => size,
      counts: () => Object.fromEntries(counts),
      recent: () => recent.slice(-RECENT_MAX),
    },
  };
  return world;
}
