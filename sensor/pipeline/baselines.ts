// The habits of every program of this node, and how far an event departs from them. An event is judged before it is
// learned from. A program is judged only when it is known for a day and the respect in question was seen often enough.
// Bounded: a program that is not learned yet makes room first, so that a flood of new names cannot push out what is known.
import { type Deed, type Dimension, deedsOf } from '../../machines/detection/deeds.ts';
import { BASELINE_BINARIES_MAX, BASELINE_WARM_UP_MS } from '../../machines/pipeline-limits.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import { decay, newProfile, observe, type Profile, surpriseOf } from './baseline-profile.ts';

export type Judgement = {
  /** 0 usual, 1 never done; null while the program is still being learned. */
  readonly score: number | null;
  /** The respects in which it departs most. */
  readonly unusual: readonly Dimension[];
};
/** What is absent is the limit. */
export type LearningLimits = { readonly binariesMax?: number; readonly warmUpMs?: number };
export type Baselines = {
  /** Judges an event, then learns from it. */
  judge(event: RuntimeEvent, atMs: number): Judgement;
  /** Every program, the one heard of last at the end. */
  profiles(): ReadonlyMap<string, Profile>;
};

const WEIGHTS: Readonly<Record<Dimension, number>> = {
  children: 1,
  destinations: 0.9,
  users: 0.9,
  files: 0.8,
  hours: 0.3,
};
const UNUSUAL_FROM = 0.5;
const ROUNDING = 1_000;

/** Makes the baselines, from what was saved or from nothing. */
export function createBaselines(
  saved: ReadonlyMap<string, Profile> = new Map(),
  { binariesMax = BASELINE_BINARIES_MAX, warmUpMs = BASELINE_WARM_UP_MS }: LearningLimits = {},
): Baselines {
  const profiles = new Map(saved);
  let latestMs = 0;

  function profileOf(binary: string, atMs: number): Profile {
    const known = profiles.get(binary);
    if (known === undefined && profiles.size >= binariesMax) profiles.delete(spare(atMs));
    const profile = known ?? newProfile(atMs);
    if (known !== undefined) profiles.delete(binary);
    profiles.set(binary, profile);
    decay(profile, atMs);
    return profile;
  }

  /** Who goes when there is no room: the one not learned yet that was not heard of for longest, else the oldest. */
  function spare(atMs: number): string {
    let oldest: string | undefined;
    for (const [binary, profile] of profiles) {
      oldest ??= binary;
      if (!isLearned(profile, atMs, warmUpMs)) return binary;
    }
    return oldest ?? '';
  }

  function judgeDeed(deed: Deed, times: number, atMs: number): number | undefined {
    const profile = profileOf(deed.binary, atMs);
    const habit = profile.habits[deed.dimension];
    const surprise = isLearned(profile, atMs, warmUpMs) ? surpriseOf(habit, deed.value) : undefined;
    observe(habit, deed.value, times);
    return surprise === undefined ? undefined : surprise * WEIGHTS[deed.dimension];
  }

  return {
    judge(event, toldMs) {
      // A line with a wild date moves nothing back.
      latestMs = Math.max(latestMs, toldMs);
      const atMs = latestMs;
      // A burst is one deed: a storm must not make itself usual.
      const times = event.event_kind === 'process_burst' ? 1 : (event.occurrences ?? 1);
      let usual = 1;
      let isJudged = false;
      const unusual: Dimension[] = [];
      for (const deed of deedsOf(event, atMs)) {
        const surprise = judgeDeed(deed, times, atMs);
        if (surprise === undefined) continue;
        isJudged = true;
        usual *= 1 - surprise;
        if (surprise >= UNUSUAL_FROM) unusual.push(deed.dimension);
      }
      if (event.event_kind === 'process_exec' || event.event_kind === 'process_burst') {
        const own = profiles.get(event.process?.binary ?? '');
        if (own !== undefined) own.executions += event.occurrences ?? 1;
      }
      const score = isJudged ? Math.round((1 - usual) * ROUNDING) / ROUNDING : null;
      return { score, unusual };
    },
    profiles: () => profiles,
  };
}

/** Whether a program was known long enough to be judged. */
export function isLearned(
  profile: Profile,
  atMs: number,
  warmUpMs: number = BASELINE_WARM_UP_MS,
): boolean {
  return atMs - profile.firstMs >= warmUpMs;
}
