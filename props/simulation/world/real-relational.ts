// A real PostgreSQL beside the simulated one: what a Console is answered comes from the SQL of the product. Each life of a
// Console has a pool of its own. The database is given the time of the world, since a statement may ask it for the time.
import pg from 'pg';
import type { Time } from '../../../storage/ports/plumbing/clock.ts';
import type { Tenure } from '../../../storage/ports/runtime/designation.ts';
import type { RelationalOptions } from '../../../storage/relational/plumbing/context.ts';
import { IDENTITY_CHANNEL } from '../../../storage/relational/plumbing/transaction.ts';
import { createRelational, type Relational } from '../../../storage/relational/relational.ts';
import { WORLD_BEGINS_MS } from './clocks.ts';
import type { Life } from './life.ts';
import { createLockstep, type Lockstep } from './lockstep.ts';
import type { World } from './world.ts';

/** The one store whose statements ask the database for the time; `lockstep.test.ts` looks that there is no other. */
const ASKING_THE_TIME = 'sinkFloors.';
/** How long a word about a change may be on its way, in real time. */
const HEARD_MAX_MS = 5_000;

export type RealLife = {
  readonly both: Lockstep['both'];
  /** The same as what a way sends: it takes the promise of an answer for the answer. */
  sent<Answer>(name: string, real: () => Promise<Answer>, model: () => Answer): Answer;
  /** The pool of this life; after its end one that carries out what was still on its way. */
  stores(): Relational;
  /** The same calls, each made by the real port too. */
  beside<Calls extends object>(
    name: string,
    calls: Calls,
    pick: (stores: Relational) => object,
  ): Calls;
};
export type RealRelational = {
  lifeOf(life: Life): RealLife;
  /** Of nobody's life: for who looks from outside. */
  readonly outside: RealLife;
  /** The reference database tells of a change; the real one has to tell of it, too. */
  expect(sensorId: string): void;
  /** Something of it alone, in its turn. */
  readonly alone: Lockstep['alone'];
  /** A session that holds the lock of the designated Console, until it is released. */
  begins(tenure: Tenure): void;
  release(tenure: Tenure): Promise<void>;
  /** Ends every connection. */
  close(): Promise<void>;
};

const timers: RelationalOptions['timers'] = {
  now: () => Date.now(),
  setTimeout: (run, delayMs) => setTimeout(run, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
} satisfies Pick<Time, 'setTimeout' | 'clearTimeout'> & { now(): number };

/** Connects to an own, empty database that has its tables and the clock of `real-database.ts`. */
export async function openRealRelational(
  world: World,
  options: Omit<RelationalOptions, 'timers'>,
): Promise<RealRelational> {
  const desk = new pg.Client({ connectionString: options.url });
  await desk.connect();
  const ear = await createEar(desk);
  const lockstep = createLockstep(world, {
    async before(name) {
      ear.begin();
      if (!name.startsWith(ASKING_THE_TIME)) return;
      const nowMs = WORLD_BEGINS_MS + Math.floor(world.scheduler.now());
      await desk.query('UPDATE simulated.clock SET now_ms = $1', [nowMs]);
    },
    after: () => ear.end(),
  });
  const open = (): Relational => createRelational({ ...options, timers });
  const late = open();
  const pools = new Set<Relational>();
  const tenures = new Set<Tenure>();

  async function release(tenure: Tenure): Promise<void> {
    tenures.delete(tenure);
    await tenure.release();
  }

  const realLife = (stores: () => Relational): RealLife => ({
    both: lockstep.both,
    sent: <Answer>(name: string, real: () => Promise<Answer>, model: () => Answer) =>
      lockstep.both(name, real, model) as Answer,
    stores,
    beside: (name, calls, pick) => doubled(name, calls, () => pick(stores()), lockstep.both),
  });

  return {
    expect: ear.expect,
    alone: lockstep.alone,
    begins: (tenure) => void tenures.add(tenure),
    release,
    lifeOf(life) {
      const own = open();
      pools.add(own);
      life.onEnd(() => {
        pools.delete(own);
        lockstep.alone(() => own.close());
      });
      return realLife(() => (life.isAlive() ? own : late));
    },
    outside: realLife(() => late),
    async close() {
      await lockstep.settled();
      await Promise.all([...tenures].map(release));
      await Promise.all([late, ...pools].map((one) => one.close()));
      await desk.end();
    },
  };
}

/** An answer of both is the promise of one, which whoever asked waits for. */
function doubled<Calls extends object>(
  prefix: string,
  calls: Calls,
  port: () => object,
  both: Lockstep['both'],
): Calls {
  const made: Record<string, unknown> = {};
  for (const [name, call] of Object.entries(calls)) {
    const full = prefix === '' ? name : `${prefix}.${name}`;
    const own = (): unknown => (port() as Record<string, unknown>)[name];
    if (typeof call !== 'function') {
      made[name] = doubled(full, call as object, () => own() as object, both);
      continue;
    }
    made[name] = (...args: readonly unknown[]) =>
      both(
        full,
        async () => (own() as (...args: readonly unknown[]) => unknown)(...args),
        () => call(...args),
      );
  }
  return made as Calls;
}

type Ear = {
  begin(): void;
  expect(sensorId: string): void;
  /** Waits for what has to be heard; answers what was not. */
  end(): Promise<string | null>;
};

/** Hears what a call told to every Console. */
async function createEar(desk: pg.Client): Promise<Ear> {
  const heard = new Set<string>();
  const expected = new Set<string>();
  let wake = (): void => undefined;
  desk.on('notification', ({ payload = '' }) => {
    heard.add(payload);
    wake();
  });
  await desk.query(`LISTEN ${IDENTITY_CHANNEL}`);
  const isAllHeard = (): boolean => [...expected].every((one) => heard.has(one));
  return {
    begin() {
      heard.clear();
      expected.clear();
    },
    expect: (sensorId) => void expected.add(sensorId),
    async end() {
      // What was told before a question comes before its answer.
      if (!isAllHeard()) await desk.query('SELECT 1');
      if (!isAllHeard()) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, HEARD_MAX_MS);
          wake = () => {
            if (!isAllHeard()) return;
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const unheard = [...expected].filter((one) => !heard.has(one));
      return unheard.length === 0 ? null : `told of ${unheard.join(', ')}`;
    },
  };
}
