// Planted bugs that ordinary seeds seldom find are found by the first seeds of the profile that is about them, as these are
// drawn. UNTUNED.md has what each took.
import { describe, expect, it } from 'vitest';
import { shareOf } from '../share.ts';
import { PLANTED } from './all.ts';
import { findFirst } from './find.ts';
import { FOUND_UNDER } from './found-under.ts';

/** For a machine that is busy with other things. */
const PATIENCE_MS = 600_000;
const SEEDS_MAX = 8;

const wanted = Object.entries(FOUND_UNDER).flatMap(([profile, names]) =>
  names.map((name) => ({ name, profile: profile as keyof typeof FOUND_UNDER })),
);

describe('planted bugs, nothing tuned', () => {
  it.each(shareOf(wanted, 3))(
    'should be found by one of the first seeds of $profile: $name',
    async ({ name, profile }) => {
      const bug = PLANTED.find((one) => one.name === name);
      if (bug === undefined) throw new Error('there is no such planted bug');
      const { first, others } = await findFirst(bug, SEEDS_MAX, profile);
      expect(first, JSON.stringify(others)).not.toBeNull();
    },
    PATIENCE_MS,
  );
});
