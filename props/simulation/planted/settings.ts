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

function shortLives(): Intervals {
  const resolved = resolveIntervals({
    CLIENT_CERTIFICATE_TTL_MS: 240_000,
    RENEWAL_RECOMMENDED_MS: 120_000,
    RENEWAL_DUE_MS: 60_000,
    PREVIOUS_CERTIFICATE_OVERLAP_MS: 20_000,
  });
  if (!resolved.ok) throw new Error(resolved.mistakes.join('; '));
  return resolved.intervals;
}

export const CALM: PlantedBug['options'] = {
  sensors: 1,
  consoles: 1,
  people: 0,
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
