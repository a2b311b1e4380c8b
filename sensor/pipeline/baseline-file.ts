// The baselines as text, to be kept across restarts, and as the inventory section the Console stores. What cannot be read
// whole is nothing: habits are learned again rather than guessed from a torn file.
import Type from 'typebox';
import { DIMENSIONS, type Dimension } from '../../machines/detection/deeds.ts';
import { BASELINE_BINARIES_MAX, BASELINE_VALUES_MAX } from '../../machines/pipeline-limits.ts';
import type { Baseline } from '../../machines/wire/baseline.ts';
import { parserOf } from '../../machines/wire/parse.ts';
import type { Habit, Profile } from './baseline-profile.ts';
import { isLearned } from './baselines.ts';

const VERSION = 1;
const LISTED_MAX = 16;
const Weight = Type.Number({ minimum: 0 });
const SavedHabit = Type.Object({
  total: Weight,
  fresh: Weight,
  values: Type.Array(Type.Tuple([Type.String(), Weight]), { maxItems: BASELINE_VALUES_MAX }),
});
const Saved = Type.Object({
  version: Type.Literal(VERSION),
  profiles: Type.Array(
    Type.Object({
      binary: Type.String(),
      firstMs: Weight,
      decayedMs: Weight,
      seenMs: Weight,
      executions: Weight,
      habits: Type.Object({
        children: SavedHabit,
        files: SavedHabit,
        destinations: SavedHabit,
        users: SavedHabit,
        hours: SavedHabit,
      }),
    }),
    { maxItems: BASELINE_BINARIES_MAX },
  ),
});
const readSaved = parserOf(Saved);
type SavedHabit = Type.Static<typeof SavedHabit>;

/** The whole as JSON text. */
export function baselinesText(profiles: ReadonlyMap<string, Profile>): string {
  const saved = [...profiles].map(([binary, { habits, ...rest }]) => ({
    binary,
    ...rest,
    habits: mapHabits(habits, ({ values, ...totals }) => ({ ...totals, values: [...values] })),
  }));
  return JSON.stringify({ version: VERSION, profiles: saved });
}

/** Reads it back; null when it is torn, foreign or of another version. */
export function parseBaselines(text: string): ReadonlyMap<string, Profile> | null {
  const parsed = readSaved(text);
  if (!parsed.ok) return null;
  return new Map(
    parsed.value.profiles.map(({ binary, habits, ...rest }): [string, Profile] => [
      binary,
      { ...rest, habits: mapHabits<SavedHabit, Habit>(habits, restored) },
    ]),
  );
}

function restored({ values, ...totals }: SavedHabit): Habit {
  return { ...totals, values: new Map(values) };
}

/** What the Console is told of a program, weights to a tenth. */
export function baselineItem(
  binary: string,
  profile: Profile,
  atMs: number,
  warmUpMs?: number,
): Baseline {
  const { habits } = profile;
  return {
    binary,
    executions: rounded(profile.executions),
    is_warm: isLearned(profile, atMs, warmUpMs),
    learned_since: new Date(profile.firstMs).toISOString(),
    updated_at: new Date(profile.seenMs).toISOString(),
    children: usualOf(habits.children),
    files: usualOf(habits.files),
    destinations: usualOf(habits.destinations),
    users: usualOf(habits.users),
    hours: Array.from({ length: 24 }, (_, hour) =>
      rounded(habits.hours.values.get(String(hour)) ?? 0),
    ),
  };
}

/** The heaviest first, equals by name, so that an unchanged habit is an unchanged list. */
function usualOf({ values }: Habit): Baseline['children'] {
  return [...values]
    .map(([name, weight]) => ({ name, weight: rounded(weight) }))
    .sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1))
    .slice(0, LISTED_MAX);
}

function rounded(weight: number): number {
  return Math.round(weight * 10) / 10;
}

function mapHabits<From, To>(
  habits: Readonly<Record<Dimension, From>>,
  change: (habit: From) => To,
): Record<Dimension, To> {
  const entries = DIMENSIONS.map((name): [Dimension, To] => [name, change(habits[name])]);
  return Object.fromEntries(entries) as Record<Dimension, To>;
}
