// What a profile is drawn from: by the seed alone, and only where it is wanted.
import { expect, it } from 'vitest';
import { isRare } from './faults/kinds.ts';
import { drawOptions, type Options, PROFILES, type Profile } from './options.ts';
import { PLANTED } from './planted/all.ts';
import { optionsFor } from './planted/find.ts';
import { SUBJECT_OF, SUBJECTS } from './subjects.ts';

const SEEDS = Array.from({ length: 12 }, (_, at) => String(at + 1));
const [anyBug] = PLANTED;

it.each(PROFILES)('should draw the same options of a seed each time: %s', (profile) => {
  for (const seed of SEEDS) {
    expect(drawOptions(seed, profile)).toEqual(drawOptions(seed, profile));
  }
});

it('should have receivers of webhooks in one profile, and in all of its runs', () => {
  for (const profile of PROFILES) {
    const counts = SEEDS.map((seed) => drawOptions(seed, profile).receivers);
    expect(counts.every((count) => (profile === 'deliveries' ? count > 0 : count === 0))).toBe(
      true,
    );
  }
});

it('should look for planted bugs, untuned, under runs with receivers too', () => {
  if (anyBug === undefined) throw new Error('no bug is planted');
  const drawn = SEEDS.map((seed) => optionsFor(anyBug, seed, 'untuned'));
  expect(new Set(drawn.map(({ profile }) => profile))).toEqual(
    new Set(['smoke', 'nightly', 'deliveries']),
  );
  expect(drawn.filter(({ receivers }) => receivers > 0)).toHaveLength(4);
});

it.each(SUBJECTS)('should draw only accidents that bear on it, of several kinds: %s', (profile) => {
  const { kinds, always = [] } = SUBJECT_OF[profile];
  const drawn = SEEDS.map((seed) => drawOptions(seed, profile).kinds);
  const bearing = new Set<string>([...kinds, ...always.flat()]);

  expect(drawn.flat().filter((kind) => !bearing.has(kind))).toEqual([]);
  expect(new Set(drawn.flat()).size).toBe(bearing.size);
  expect(new Set(drawn.map((some) => some.join())).size).toBeGreaterThan(3);
});

it('should have what its subject is about in all runs of a profile', () => {
  const of = (profile: Profile): readonly Options[] =>
    SEEDS.map((seed) => drawOptions(seed, profile));

  for (const { intervals } of of('identities')) {
    expect(intervals.CLIENT_CERTIFICATE_TTL_MS).toBeLessThanOrEqual(600_000);
  }
  expect(of('identities').some((one) => one.intervals.ENROLLMENT_TOKEN_TTL_MS === 10_000)).toBe(
    true,
  );
  expect(of('replicas').every(({ consoles }) => consoles > 1)).toBe(true);
  expect(of('replicas').some(({ people }) => people > 0)).toBe(true);
  expect(of('restores').every(({ kinds }) => kinds.some(isRare))).toBe(true);
  expect(of('busy').every(({ quietMs }) => quietMs <= 3_000)).toBe(true);
  expect(of('busy').some(({ keepers, programs }) => keepers * programs > 0)).toBe(true);
});

it('should leave to what is given its place before a subject', () => {
  expect(drawOptions('1', 'replicas', { consoles: 1, kinds: [] })).toMatchObject({
    ...{ consoles: 1, kinds: [] },
  });
});
