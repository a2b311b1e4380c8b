// What one program usually does: which children it starts, which files and destinations it touches, as whom and when. Of
// each the weights of the values seen, halved every week, so that an old habit fades. A value is surprising when it is
// rare and when new values are rare here: a browser that meets a new address every minute surprises nobody with one more.
import type { Dimension } from '../../machines/detection/deeds.ts';
import {
  BASELINE_HALF_LIFE_MS,
  BASELINE_OBSERVATIONS_MIN,
  BASELINE_VALUES_MAX,
} from '../../machines/pipeline-limits.ts';

export type Habit = {
  /** Observations, and those of them that brought a new value, both halved with time. */
  total: number;
  fresh: number;
  readonly values: Map<string, number>;
};
export type Profile = {
  readonly firstMs: number;
  /** Up to when the weights are halved. */
  decayedMs: number;
  /** The hour it was last heard of in. */
  seenMs: number;
  /** Halved with time like the rest. */
  executions: number;
  readonly habits: Record<Dimension, Habit>;
};

const HOUR_MS = 3_600_000;
const USUAL_WEIGHT = 3;
const FORGOTTEN_WEIGHT = 0.05;

/** A program nobody has seen before this moment. */
export function newProfile(atMs: number): Profile {
  const habit = (): Habit => ({ total: 0, fresh: 0, values: new Map() });
  return {
    firstMs: atMs,
    decayedMs: atMs,
    seenMs: hourOf(atMs),
    executions: 0,
    habits: {
      children: habit(),
      files: habit(),
      destinations: habit(),
      users: habit(),
      hours: habit(),
    },
  };
}

/** Halves the weights for the time gone by, in steps of an hour. */
export function decay(profile: Profile, atMs: number): void {
  profile.seenMs = hourOf(atMs);
  const elapsedMs = atMs - profile.decayedMs;
  if (elapsedMs < HOUR_MS) return;
  const factor = 2 ** (-elapsedMs / BASELINE_HALF_LIFE_MS);
  profile.decayedMs = atMs;
  profile.executions *= factor;
  for (const habit of Object.values(profile.habits)) {
    habit.total *= factor;
    habit.fresh *= factor;
    for (const [value, weight] of habit.values) {
      if (weight * factor < FORGOTTEN_WEIGHT) habit.values.delete(value);
      else habit.values.set(value, weight * factor);
    }
  }
}

/** How surprising a value is, 0 to 1; undefined while too little was seen to tell. Changes nothing. */
export function surpriseOf(habit: Habit, value: string): number | undefined {
  if (habit.total < BASELINE_OBSERVATIONS_MIN) return undefined;
  const familiarity = Math.min(1, (habit.values.get(value) ?? 0) / USUAL_WEIGHT);
  const novelty = Math.min(1, habit.fresh / habit.total);
  return (1 - familiarity) * (1 - novelty) ** 2;
}

/** Takes a value in. When there is no room, the one seen least goes. */
export function observe(habit: Habit, value: string, times = 1): void {
  const before = habit.values.get(value);
  habit.total += times;
  if (before === undefined) {
    habit.fresh += 1;
    if (habit.values.size >= BASELINE_VALUES_MAX) habit.values.delete(leastOf(habit.values));
  }
  habit.values.set(value, (before ?? 0) + times);
}

/** The beginning of an hour. */
export function hourOf(atMs: number): number {
  return Math.floor(atMs / HOUR_MS) * HOUR_MS;
}

function leastOf(values: ReadonlyMap<string, number>): string {
  let least = '';
  let leastWeight = Number.POSITIVE_INFINITY;
  for (const [value, weight] of values) {
    if (weight < leastWeight) [least, leastWeight] = [value, weight];
  }
  return least;
}
