// Two databases side by side: the real one answers, the reference one shows the checkers what is stored, and both have to
// say the same to every call. Calls go one after the other, and time stands still while one is under way.
import { isDeepStrictEqual } from 'node:util';
import type { Scheduler } from './scheduler.ts';
import type { World } from './world.ts';

export type Lockstep = {
  /** The real call, then the reference one; answers what the real one answered. */
  both<Answer>(name: string, real: () => Promise<Answer>, model: () => Answer): Promise<Answer>;
  /** Something for the real one alone, in its turn. */
  alone(work: () => Promise<unknown>): void;
  /** Resolves when everything that was asked has been answered. */
  settled(): Promise<void>;
};

type Outcome = { readonly answer: unknown } | { readonly error: unknown };

/** Answers that are sets: no port promises an order of them; of a claim, only which ones are taken. */
const SETS: ReadonlySet<string> = new Set([
  'deliveries.claim',
  'inventory.hashesOf',
  'inventory.loadHashes',
  'rollouts.look',
]);
const SHOWN_MAX = 600;

/** Begins with nothing asked; `around` runs before and after each pair of calls. */
export function createLockstep(
  world: Pick<World, 'observe' | 'crashed'> & { readonly scheduler: Pick<Scheduler, 'hold'> },
  around: { before(name: string): Promise<void>; after(): Promise<string | null> },
): Lockstep {
  let tail: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const release = world.scheduler.hold();
    const done = tail.then(work);
    tail = done.then(release, release);
    return done;
  }

  async function ask<Answer>(
    name: string,
    real: () => Promise<Answer>,
    model: () => Answer,
  ): Promise<Answer> {
    await around.before(name);
    const really = await outcomeOf(real);
    const modelled = await outcomeOf(async () => model());
    const unheard = await around.after();
    if (!isSame(name, plain(really), plain(modelled)))
      world.observe({ kind: 'database.differs', call: name, ...told(really, modelled) });
    if (unheard !== null) {
      world.observe({ kind: 'database.differs', call: name, real: 'told nobody', model: unheard });
    }
    if ('error' in really) throw really.error;
    return really.answer as Answer;
  }

  return {
    both(name, real, model) {
      const answer = inTurn(() => ask(name, real, model));
      // Whoever asked may have been told something else meanwhile, or be gone.
      answer.catch(() => undefined);
      return answer;
    },
    alone: (work) => {
      inTurn(work).catch((error: unknown) => world.crashed('the real database', error));
    },
    settled: async () => {
      await tail;
    },
  };
}

async function outcomeOf(call: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { answer: await call() };
  } catch (error) {
    return { error };
  }
}

function isSame(name: string, real: unknown, model: unknown): boolean {
  if (!SETS.has(name)) return isDeepStrictEqual(real, model);
  const sorted = (outcome: unknown): readonly string[] =>
    ((outcome as { readonly answer?: readonly unknown[] }).answer ?? [])
      .map((one) => JSON.stringify(one))
      .sort();
  return isDeepStrictEqual(sorted(real), sorted(model));
}

/** What is compared: an error by its name, bytes as text, and nothing of what is only a function. */
function plain(value: unknown): unknown {
  if (value instanceof Error) return { error: value.name };
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  // What these hold has no order.
  if (value instanceof Set) return [...value].map((one) => JSON.stringify(plain(one))).sort();
  if (value instanceof Map) {
    return plain(Object.fromEntries([...value].map(([key, one]) => [String(key), one])));
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([, one]) => one !== undefined && typeof one !== 'function',
  );
  return Object.fromEntries(kept.map(([name, one]) => [name, plain(one)]));
}

function told(real: Outcome, model: Outcome): { readonly real: string; readonly model: string } {
  return { real: shown(real), model: shown(model) };
}

function shown(outcome: Outcome): string {
  if ('error' in outcome && outcome.error instanceof Error) return `threw ${outcome.error}`;
  return JSON.stringify(plain(outcome)).slice(0, SHOWN_MAX);
}
