import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLockstep, type Lockstep } from './lockstep.ts';
import type { Observation } from './observation.ts';
import { createWorld } from './world.ts';

const RELATIONAL = join(import.meta.dirname, '../../../storage/relational');

type Parts = {
  readonly world: ReturnType<typeof createWorld>;
  readonly lockstep: Lockstep;
  readonly differences: () => readonly Observation[];
};

/** `unheard`: what nobody is told of at every call. */
function begin(unheard: string | null = null): Parts {
  const world = createWorld('1');
  const seen: Observation[] = [];
  world.subscribe((one) => void seen.push(one));
  return {
    world,
    differences: () => seen.filter(({ kind }) => kind === 'database.differs'),
    lockstep: createLockstep(world, { before: async () => undefined, after: async () => unheard }),
  };
}

function refuse(): never {
  throw new TypeError('no');
}

const DIFFERENT: readonly (readonly [string, () => Promise<unknown>, () => unknown])[] = [
  ['another set', async () => new Set([1, 2]), () => new Set([1])],
  ['another map', async () => new Map([[1, 2]]), () => new Map([[1, 1]])],
  ['another answer', async () => 1, () => 2],
  ['another order', async () => [1, 2], () => [2, 1]],
  ['an error of one alone', async () => Promise.reject(new TypeError('no')), () => 1],
  ['a refusal of one alone', async () => 1, refuse],
  ['another error', async () => Promise.reject(new RangeError('no')), refuse],
];

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('two databases side by side', () => {
  it('should answer what the real one answered, and tell no difference where there is none', async () => {
    const { lockstep, differences } = begin();
    const answer = await lockstep.both<object>(
      'store.call',
      async () => ({
        id: 1,
        bytes: Buffer.from('ab'),
        rows: new Map([
          ['b', 1],
          ['a', 2],
        ]),
      }),
      () => ({
        bytes: new Uint8Array([97, 98]),
        rows: new Map([
          ['a', 2],
          ['b', 1],
        ]),
        id: 1,
        none: undefined,
      }),
    );
    expect(answer).toMatchObject({ id: 1, bytes: Buffer.from('ab') });
    expect(differences()).toEqual([]);
  });

  it.each(DIFFERENT)('should tell %s', async (_name, real, model) => {
    const { lockstep, differences } = begin();
    await lockstep.both<unknown>('store.call', real, model).catch(() => undefined);
    expect(differences()).toHaveLength(1);
  });

  it('should compare sets without their order, and all of them', async () => {
    const { lockstep, differences } = begin();
    await lockstep.both(
      'inventory.loadHashes',
      async () => [1, 2],
      () => [2, 1],
    );
    expect(differences()).toEqual([]);
    await lockstep.both(
      'inventory.loadHashes',
      async () => [1, 2],
      () => [2, 1, 1],
    );
    expect(differences()).toHaveLength(1);
  });

  it('should tell of a change that nobody was told of', async () => {
    const { lockstep, differences } = begin('told of a sensor');
    await lockstep.both(
      'store.call',
      async () => 1,
      () => 1,
    );
    expect(differences()).toHaveLength(1);
  });

  it('should make one call after the other', async () => {
    const { lockstep } = begin();
    const done: string[] = [];
    const first = lockstep.both(
      'store.first',
      () => turn().then(() => void done.push('first')),
      () => undefined,
    );
    const second = lockstep.both(
      'store.second',
      async () => void done.push('second'),
      () => undefined,
    );
    await Promise.all([first, second]);
    expect(done).toEqual(['first', 'second']);
  });

  it('should let no time pass while a call is under way, nor before who asked has heard', async () => {
    const { world, lockstep } = begin();
    const done: string[] = [];
    world.scheduler.after(1, () => {
      void lockstep
        .both(
          'store.call',
          () => turn().then(turn),
          () => undefined,
        )
        .then(() => void done.push(`heard at ${world.scheduler.now()}`));
    });
    world.scheduler.after(2, () => void done.push('later'));
    await world.scheduler.runUntil(3);
    expect(done).toEqual(['heard at 1', 'later']);
  });

  it('should know every store that asks PostgreSQL for the time', () => {
    const asking = readdirSync(RELATIONAL, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|sql)$/.test(file))
      .filter((file) =>
        /(?<![.\w])(now\(\)|\w+_timestamp\b(?!\w)|timeofday|current_date)/i.test(
          readFileSync(join(RELATIONAL, file), 'utf8'),
        ),
      );
    expect(asking).toEqual(['siem/sink-floors.ts']);
  });
});
