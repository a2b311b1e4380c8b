// How matches of a saved search are counted: by stretches of the time in which they were received, so that what was read
// is never read again, and each event once, however often it was received. decision: D142
import { SAVED_SEARCH_BUCKETS, SAVED_SEARCH_CALM_RATIO, SAVED_SEARCH_IDS_MAX } from './limits.ts';

export type CountedBucket = {
  readonly fromMs: number;
  readonly events: number;
  /** Of the newest matches, as many as are kept. */
  readonly eventIds: readonly string[];
};

const SECOND_MS = 1_000;

/** How long a stretch of a window is: whole seconds. */
export function bucketMsOf(windowMs: number): number {
  return Math.max(1, Math.ceil(windowMs / SAVED_SEARCH_BUCKETS / SECOND_MS)) * SECOND_MS;
}

/** The first instant of the window that ends when reading stopped; it begins with a stretch. */
export function windowFromMs(readToMs: number, windowMs: number): number {
  const bucketMs = bucketMsOf(windowMs);
  return Math.floor((readToMs - windowMs) / bucketMs) * bucketMs;
}

/** The stretches of a window after more was read; an event that is known by its id counts where it was first. */
export function bucketsAfter(
  before: readonly CountedBucket[],
  found: readonly CountedBucket[],
  window: { readonly readToMs: number; readonly windowMs: number },
): readonly CountedBucket[] {
  const known = new Set(before.flatMap(({ eventIds }) => eventIds));
  const buckets = new Map(before.map((one) => [one.fromMs, one]));
  for (const { fromMs, events, eventIds } of found) {
    const fresh = eventIds.filter((id) => !known.has(id));
    for (const id of fresh) known.add(id);
    const old = buckets.get(fromMs);
    buckets.set(fromMs, {
      fromMs,
      events: (old?.events ?? 0) + events - (eventIds.length - fresh.length),
      eventIds: [...(old?.eventIds ?? []), ...fresh],
    });
  }
  const first = windowFromMs(window.readToMs, window.windowMs);
  const kept = [...buckets.values()].filter(({ fromMs }) => fromMs >= first);
  return withinIds(kept.sort((a, b) => a.fromMs - b.fromMs));
}

/** Matches in the window. */
export function matchesIn(buckets: readonly CountedBucket[]): number {
  return buckets.reduce((sum, { events }) => sum + events, 0);
}

export function isCrossed(matches: number, threshold: number): boolean {
  return matches >= threshold;
}

/** Whether it fell so far that another crossing is news: well below the threshold, so that wavering around it is none. */
export function isCalm(matches: number, threshold: number): boolean {
  return matches < threshold && matches <= Math.floor(threshold * SAVED_SEARCH_CALM_RATIO);
}

/** Ids of the oldest stretches are forgotten first. */
function withinIds(buckets: readonly CountedBucket[]): readonly CountedBucket[] {
  let left = SAVED_SEARCH_IDS_MAX;
  const kept = buckets.toReversed().map((bucket) => {
    const eventIds = left === 0 ? [] : bucket.eventIds.slice(-left);
    left -= eventIds.length;
    return { ...bucket, eventIds };
  });
  return kept.reverse();
}
