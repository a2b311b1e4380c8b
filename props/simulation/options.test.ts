// What a profile is drawn from: by the seed alone, and only where it is wanted.
import { expect, it } from 'vitest';
import { drawOptions, PROFILES } from './options.ts';
import { PLANTED } from './planted/all.ts';
import { optionsFor } from './planted/find.ts';

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
