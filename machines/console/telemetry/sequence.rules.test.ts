import { describe, expect, it } from 'vitest';
import {
  addRange,
  addStored,
  EMPTY_LEDGER,
  ledgerFrom,
  lookUp,
  missingInGaps,
  openGaps,
  type SequenceLedger,
  UNSURE_LEDGER,
} from './sequence.rules.ts';

const ledgerOf = (...numbers: readonly number[]): SequenceLedger =>
  numbers.reduce((ledger, number) => addStored(ledger, number), EMPTY_LEDGER);
const ranges = (ledger: SequenceLedger) => ledger.ranges.map(({ first, last }) => [first, last]);

describe('sequence rules', () => {
  it('should grow one range in order and close gaps from either side', () => {
    expect(ranges(ledgerOf(1, 2, 3))).toEqual([[1, 3]]);
    expect(ranges(ledgerOf(1, 3))).toEqual([
      [1, 1],
      [3, 3],
    ]);
    expect(ranges(ledgerOf(1, 3, 2))).toEqual([[1, 3]]);
    expect(ranges(ledgerOf(3, 2))).toEqual([[2, 3]]);
    expect(ranges(ledgerOf(3, 1, 7, 5))).toEqual([
      [1, 1],
      [3, 3],
      [5, 5],
      [7, 7],
    ]);
    expect(ranges(ledgerOf(1, 3, 5, 3))).toEqual([
      [1, 1],
      [3, 3],
      [5, 5],
    ]);
  });

  it('should take a range that covers, touches or lies inside others', () => {
    const some = ledgerOf(2, 4, 8);
    expect(ranges(addRange(some, { first: 1, last: 5 }))).toEqual([
      [1, 5],
      [8, 8],
    ]);
    expect(ranges(addRange(some, { first: 5, last: 7 }))).toEqual([
      [2, 2],
      [4, 8],
    ]);
    expect(ranges(addRange(some, { first: 3, last: 9 }))).toEqual([[2, 9]]);
    const long = addRange(EMPTY_LEDGER, { first: 1, last: 9 });
    expect(addRange(long, { first: 3, last: 4 })).toEqual(long);
    expect(addRange(some, { first: 6, last: 6 }).highest).toBe(8);
    expect(addRange(some, { first: 6, last: 20 }).highest).toBe(20);
  });

  it('should refuse a range that begins before 1 or ends before it begins', () => {
    for (const range of [
      { first: 0, last: 3 },
      { first: 4, last: 3 },
    ]) {
      expect(() => addRange(EMPTY_LEDGER, range)).toThrow('a range starts at 1 or later');
    }
    expect(ranges(addRange(EMPTY_LEDGER, { first: 4, last: 4 }))).toEqual([[4, 4]]);
  });

  it('should tell stored from unseen, and be unsure where it is not exact', () => {
    const some = ledgerOf(1, 2, 5);
    expect([1, 2, 3, 4, 5, 6].map((one) => lookUp(some, one))).toEqual([
      'stored',
      'stored',
      'unseen',
      'unseen',
      'stored',
      'unseen',
    ]);
    expect(lookUp(UNSURE_LEDGER, 1)).toBe('unsure');
    const from = addStored(ledgerFrom(5), 5);
    expect([4, 5, 6].map((one) => lookUp(from, one))).toEqual(['unsure', 'stored', 'unseen']);
    expect(lookUp(ledgerFrom(5), 4)).toBe('unsure');
    expect(lookUp(ledgerFrom(5), 5)).toBe('unseen');
    expect(lookUp(EMPTY_LEDGER, 0)).toBe('unsure');
  });

  it('should count open gaps and the numbers missing in them', () => {
    expect([openGaps(EMPTY_LEDGER), missingInGaps(EMPTY_LEDGER)]).toEqual([0, 0]);
    expect([openGaps(ledgerOf(1, 2)), missingInGaps(ledgerOf(1, 2))]).toEqual([0, 0]);
    expect([openGaps(ledgerOf(2)), missingInGaps(ledgerOf(2))]).toEqual([1, 1]);
    expect([openGaps(ledgerOf(3, 5, 9)), missingInGaps(ledgerOf(3, 5, 9))]).toEqual([3, 6]);
    const from = addStored(ledgerFrom(5), 5);
    expect([openGaps(from), missingInGaps(from)]).toEqual([0, 0]);
  });

  it('should close the oldest gap when there are too many, and count its numbers as lost', () => {
    const leading = addStored(ledgerOf(3, 6), 10, 2);
    expect(leading).toEqual({
      ranges: [
        { first: 3, last: 3 },
        { first: 6, last: 6 },
        { first: 10, last: 10 },
      ],
      closedThrough: 2,
      lost: 2,
      highest: 10,
    });
    const inner = addStored(leading, 20, 2);
    expect(inner).toEqual({
      ranges: [
        { first: 6, last: 6 },
        { first: 10, last: 10 },
        { first: 20, last: 20 },
      ],
      closedThrough: 5,
      lost: 4,
      highest: 20,
    });
    expect([2, 3, 5, 6].map((one) => lookUp(inner, one))).toEqual([
      'unsure',
      'unsure',
      'unsure',
      'stored',
    ]);
    expect(addStored(ledgerFrom(5), 10, 0)).toEqual({
      ranges: [{ first: 10, last: 10 }],
      closedThrough: 9,
      lost: 5,
      highest: 10,
    });
    expect(addRange(ledgerOf(3, 6, 10), { first: 30, last: 31 }, 0)).toEqual({
      ranges: [{ first: 30, last: 31 }],
      closedThrough: 29,
      lost: 26,
      highest: 31,
    });
  });

  it('should find again what arrives after its gap was closed', () => {
    const closed = addStored(ledgerOf(3, 6), 10, 2);
    expect(addStored(closed, 1)).toEqual({ ...closed, lost: 1 });
    expect(addRange(closed, { first: 1, last: 2 })).toEqual({ ...closed, lost: 0 });
    expect(addStored(addStored(addStored(closed, 1), 2), 2).lost).toBe(0);
    expect(addStored(ledgerFrom(50), 7)).toMatchObject({ highest: 7, lost: 0, ranges: [] });
  });
});
