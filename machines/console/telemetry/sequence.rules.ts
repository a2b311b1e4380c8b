// Which batches of one channel of one sensor are stored: ranges of numbers, ascending, apart from each other. A gap is
// kept open for what may still arrive; when there are too many, the oldest is closed and its numbers are counted as
// lost. Below a closed gap the ledger is no longer exact and says so ("unsure"): the event store is asked then, because
// an acknowledgment may only name what is durable. invariant: I1, I6, I10; decision: D6
import { SEQUENCE_OPEN_GAPS_MAX } from '../../limits.ts';

type Range = { readonly first: number; readonly last: number };

export type SequenceLedger = {
  readonly ranges: readonly Range[];
  /** Numbers up to here are settled by the event store, not by the ledger. */
  readonly closedThrough: number;
  /** Numbers in closed gaps that have not arrived since. */
  readonly lost: number;
  /** The highest number ever stored; 0 before the first. */
  readonly highest: number;
};

export const EMPTY_LEDGER: SequenceLedger = { ranges: [], closedThrough: 0, lost: 0, highest: 0 };

/** A ledger that knows nothing and says so of every number. */
export const UNSURE_LEDGER: SequenceLedger = {
  ...EMPTY_LEDGER,
  closedThrough: Number.MAX_SAFE_INTEGER,
};

/**
 * A ledger whose oldest number in the event store is known. What lies below was stored and has outlived its retention, or
 * never came: the store is asked about it, and it is no gap.
 */
export function ledgerFrom(oldest: number): SequenceLedger {
  return { ...EMPTY_LEDGER, closedThrough: oldest - 1 };
}

/** What the ledger knows of a number. */
export function lookUp(ledger: SequenceLedger, sequence: number): 'stored' | 'unseen' | 'unsure' {
  if (sequence > ledger.highest && sequence > ledger.closedThrough) return 'unseen';
  const at = placeOf(ledger.ranges, sequence);
  const range = ledger.ranges[at];
  if (range !== undefined && range.first <= sequence) return 'stored';
  return sequence <= ledger.closedThrough ? 'unsure' : 'unseen';
}

/** Adds a number that is durable now. Adding one again changes nothing above the closed part. */
export function addStored(
  ledger: SequenceLedger,
  sequence: number,
  gapsMax: number = SEQUENCE_OPEN_GAPS_MAX,
): SequenceLedger {
  return addRange(ledger, { first: sequence, last: sequence }, gapsMax);
}

/** Adds a whole range, as read back from the event store. */
export function addRange(
  ledger: SequenceLedger,
  added: Range,
  gapsMax: number = SEQUENCE_OPEN_GAPS_MAX,
): SequenceLedger {
  if (added.first < 1 || added.last < added.first) throw new Error('a range starts at 1 or later');
  const highest = Math.max(ledger.highest, added.last);
  if (added.last <= ledger.closedThrough) {
    // It arrived after its gap was closed: it is not lost after all.
    return { ...ledger, highest, lost: Math.max(0, ledger.lost - (added.last - added.first + 1)) };
  }
  const { ranges } = ledger;
  const tail = ranges.at(-1);
  // The ordinary case: the next number in order.
  if (tail !== undefined && added.first === tail.last + 1) {
    return { ...ledger, highest, ranges: ranges.with(-1, { first: tail.first, last: added.last }) };
  }
  const start = placeOf(ranges, added.first - 1);
  let end = start;
  let { first, last } = added;
  for (let next = ranges[end]; next !== undefined && next.first <= added.last + 1; ) {
    first = Math.min(first, next.first);
    last = Math.max(last, next.last);
    end += 1;
    next = ranges[end];
  }
  const merged = ranges.toSpliced(start, end - start, { first, last });
  return closeOldestGaps({ ...ledger, highest, ranges: merged }, gapsMax);
}

/** Gaps that may still be filled. */
export function openGaps(ledger: SequenceLedger): number {
  const first = ledger.ranges[0];
  if (first === undefined) return 0;
  return ledger.ranges.length - 1 + (first.first > ledger.closedThrough + 1 ? 1 : 0);
}

/** Numbers missing in open gaps. */
export function missingInGaps(ledger: SequenceLedger): number {
  let missing = 0;
  let expected = ledger.closedThrough + 1;
  for (const range of ledger.ranges) {
    missing += Math.max(0, range.first - expected);
    expected = range.last + 1;
  }
  return missing;
}

function closeOldestGaps(ledger: SequenceLedger, gapsMax: number): SequenceLedger {
  let { ranges, closedThrough, lost } = ledger;
  for (let gaps = openGaps(ledger); gaps > gapsMax; gaps -= 1) {
    const [first, second] = ranges;
    if (first === undefined) break;
    if (first.first > closedThrough + 1) {
      lost += first.first - closedThrough - 1;
      closedThrough = first.first - 1;
    } else if (second !== undefined) {
      lost += second.first - first.last - 1;
      closedThrough = second.first - 1;
      ranges = ranges.slice(1);
    }
  }
  return { ...ledger, ranges, closedThrough, lost };
}

/** Index of the first range that ends at or after a number. */
function placeOf(ranges: readonly Range[], sequence: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.last ?? 0) < sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}
