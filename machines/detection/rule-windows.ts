// What a rule remembers of one group while it counts or waits for steps. Windows are of the time that events were observed
// at; an event that comes late finds its place among them. An event is known by its id, so one that comes again changes
// nothing, and one that raised an alert raises no second one. Bounded: the oldest is forgotten. decision: D131; invariant: I10
import { RULE_ENTRIES_MAX, RULE_STEP_ENTRIES_MAX } from '../limits.ts';

export type Entry = { readonly id: string; readonly atMs: number; isUsed: boolean };

/** In order of time, then of id; what lies two windows behind the newest is forgotten. */
type Line = { readonly entries: Entry[]; newestMs: number };

/** Takes its place; null when it is known or too late to count. */
function place(line: Line, one: Entry, windowMs: number, max: number): number | null {
  line.newestMs = Math.max(line.newestMs, one.atMs);
  const { entries } = line;
  const horizonMs = line.newestMs - 2 * windowMs;
  let old = 0;
  while (old < entries.length && (entries[old]?.atMs ?? 0) < horizonMs) old += 1;
  entries.splice(0, Math.max(old, entries.length >= max ? 1 : 0));
  if (one.atMs < horizonMs) return null;
  let at = entries.length;
  while (at > 0 && isAfter(entries[at - 1], one)) at -= 1;
  if (entries[at - 1]?.id === one.id && entries[at - 1]?.atMs === one.atMs) return null;
  entries.splice(at, 0, one);
  return at;
}

function isAfter(a: Entry | undefined, b: Entry): boolean {
  return a !== undefined && (a.atMs > b.atMs || (a.atMs === b.atMs && a.id > b.id));
}

export type CountGroup = {
  /** The events that complete a count with this one; empty when they do not. `isUsed`: it raised an alert before. */
  take(id: string, atMs: number, isUsed: boolean): readonly Entry[];
};

/** Counts `threshold` events within a window; each raises once. */
export function createCountGroup(threshold: number, windowMs: number): CountGroup {
  const line: Line = { entries: [], newestMs: Number.NEGATIVE_INFINITY };
  return {
    take(id, atMs, isUsed) {
      const own: Entry = { id, atMs, isUsed };
      if (place(line, own, windowMs, RULE_ENTRIES_MAX) === null || isUsed) return [];
      const free = line.entries.filter(({ isUsed }) => !isUsed);
      const at = free.indexOf(own);
      for (let first = Math.max(0, at - threshold + 1); first <= at; first += 1) {
        const found = free.slice(first, first + threshold);
        const [begin, end] = [found[0], found.at(-1)];
        if (found.length < threshold || begin === undefined || end === undefined) break;
        if (end.atMs - begin.atMs > windowMs) continue;
        for (const one of found) one.isUsed = true;
        return found;
      }
      return [];
    },
  };
}

export type SequenceGroup = {
  /** `steps`: which of them the event is. The events of a whole sequence with this one, in order; empty when there is none. */
  take(id: string, atMs: number, steps: readonly number[], isUsed: boolean): readonly Entry[];
};

/** Waits for every step in order within a window; an event stands for one step, and raises once. */
export function createSequenceGroup(steps: number, windowMs: number): SequenceGroup {
  const lines: Line[] = Array.from({ length: steps }, () => ({
    entries: [],
    newestMs: Number.NEGATIVE_INFINITY,
  }));
  const newest = { ms: Number.NEGATIVE_INFINITY };

  /** The newest of a step at or before an instant, or the oldest at or after it. */
  function near(step: number, atMs: number, taken: readonly Entry[], way: 'before' | 'after') {
    const own = lines[step]?.entries ?? [];
    const isFit = (one: Entry): boolean =>
      !one.isUsed &&
      !taken.some(({ id }) => id === one.id) &&
      (way === 'before' ? one.atMs <= atMs : one.atMs >= atMs);
    return way === 'before' ? own.findLast(isFit) : own.find(isFit);
  }

  function chain(step: number, own: Entry): readonly Entry[] {
    const found = [own];
    for (let at = step - 1; at >= 0; at -= 1) {
      const one = near(at, found[0]?.atMs ?? own.atMs, found, 'before');
      if (one === undefined) return [];
      found.unshift(one);
    }
    for (let at = step + 1; at < steps; at += 1) {
      const one = near(at, found.at(-1)?.atMs ?? own.atMs, found, 'after');
      if (one === undefined) return [];
      found.push(one);
    }
    const span = (found.at(-1)?.atMs ?? 0) - (found[0]?.atMs ?? 0);
    return span <= windowMs ? found : [];
  }

  return {
    take(id, atMs, matched, isUsed) {
      newest.ms = Math.max(newest.ms, atMs);
      const own: Entry = { id, atMs, isUsed };
      const fresh = matched.filter((step) => {
        const line = lines[step];
        if (line === undefined) return false;
        line.newestMs = newest.ms;
        return place(line, own, windowMs, RULE_STEP_ENTRIES_MAX) !== null;
      });
      if (isUsed) return [];
      for (const step of fresh) {
        const found = chain(step, own);
        if (found.length === 0) continue;
        for (const one of found) one.isUsed = true;
        return found;
      }
      return [];
    },
  };
}
