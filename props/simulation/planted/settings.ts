// What the runs of planted bugs begin with: one node, one Console, no accidents. Nothing is drawn, so that a pinned seed
// stays what it is when the ranges of ordinary runs change. Lifetimes of certificates are as in production, or so short
// that a run of minutes sees several renewals.
import { DEFAULT_INTERVALS, resolveIntervals } from '../../../machines/intervals.ts';
import type { Intervals } from '../../../machines/limits.ts';
import { BASELINE_BINARIES_MAX } from '../../../machines/pipeline-limits.ts';
import type { PlantedBug } from './planted-bug.ts';

/** Nothing expires in a short run. */
export const LONG_LIVES: Intervals = DEFAULT_INTERVALS;

/** A renewal every two minutes or so; a replaced certificate is accepted for 20 s. */
export const SHORT_LIVES: Intervals = shortLives();

/** Habits that are learned, saved and told within a minute. */
export const QUICK_HABITS: Intervals = quickHabits();

function quickHabits(): Intervals {
  return resolved({
    BASELINE_WARM_UP_MS: 60_000,
    BASELINE_SAVE_INTERVAL_MS: 20_000,
    BASELINE_TELL_INTERVAL_MS: 20_000,
    INVENTORY_INTERVAL_MS: 20_000,
    INVENTORY_REPEAT_MS: 40_000,
  });
}

function shortLives(): Intervals {
  return resolved({
    CLIENT_CERTIFICATE_TTL_MS: 240_000,
    RENEWAL_RECOMMENDED_MS: 120_000,
    RENEWAL_DUE_MS: 60_000,
    PREVIOUS_CERTIFICATE_OVERLAP_MS: 20_000,
  });
}

function resolved(changed: Partial<Intervals>): Intervals {
  const result = resolveIntervals(changed);
  if (!result.ok) throw new Error(result.mistakes.join('; '));
  return result.intervals;
}

export const CALM: PlantedBug['options'] = {
  sensors: 1,
  consoles: 1,
  people: 0,
  keepers: 0,
  wardens: 0,
  publishers: 0,
  receivers: 0,
  hours: 0.1,
  kinds: [],
  faultsPerHour: 120,
  intervals: LONG_LIVES,
  spoolEventsMax: 100_000,
  quietMs: 20_000,
  programs: 0,
  binariesMax: BASELINE_BINARIES_MAX,
  driftPpm: 20,
  skewMs: 0,
};

/** Four receivers of webhooks, and things that are found all the time. */
export const RECEIVED: PlantedBug['options'] = {
  ...{ ...CALM, receivers: 4, hours: 0.1, quietMs: 60_000 },
};
