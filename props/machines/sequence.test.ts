// The ledger of stored numbers against a plain set: it never calls a number stored that was not stored, and never
// forgets one above the closed part. invariant: I1, I10
import fc from 'fast-check';
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
} from '../../machines/console/telemetry/sequence.rules.ts';

const NUMBERS_MAX = 60;
const numbers = fc.array(fc.integer({ min: 1, max: NUMBERS_MAX }), { maxLength: 80 });
const gapsMax = fc.integer({ min: 1, max: 5 });

function fill(sequence: readonly number[], gaps?: number): SequenceLedger {
  return sequence.reduce((ledger, one) => addStored(ledger, one, gaps), EMPTY_LEDGER);
}

describe('sequence ledger', () => {
  it('always answers like a set of numbers while no gap was closed', () => {
    fc.assert(
      fc.property(numbers, (added) => {
        const ledger = fill(added);
        const model = new Set(added);
        for (let n = 1; n <= NUMBERS_MAX + 1; n += 1) {
          expect(lookUp(ledger, n)).toBe(model.has(n) ? 'stored' : 'unseen');
        }
        expect(ledger.highest).toBe(Math.max(0, ...added));
        expect(ledger.lost).toBe(0);
        expect(missingInGaps(ledger)).toBe(ledger.highest - model.size);
      }),
    );
  });

  it('never calls a number stored that was not, however many gaps were closed', () => {
    fc.assert(
      fc.property(numbers, gapsMax, (added, gaps) => {
        const model = new Set<number>();
        let ledger = EMPTY_LEDGER;
        for (const one of added) {
          // As the shell does: what the ledger is unsure of is settled by the store, which is the model.
          const known = lookUp(ledger, one);
          if (known === 'stored' || (known === 'unsure' && model.has(one))) continue;
          ledger = addStored(ledger, one, gaps);
          model.add(one);
        }
        for (let n = 1; n <= NUMBERS_MAX + 1; n += 1) {
          const known = lookUp(ledger, n);
          if (known !== 'unsure') expect(known).toBe(model.has(n) ? 'stored' : 'unseen');
          else expect(n).toBeLessThanOrEqual(ledger.closedThrough);
        }
      }),
    );
  });

  it('never keeps more gaps open than it may, and accounts for every number', () => {
    fc.assert(
      fc.property(numbers, gapsMax, (added, gaps) => {
        const model = new Set<number>();
        let ledger = EMPTY_LEDGER;
        for (const one of added) {
          if (model.has(one)) continue;
          ledger = addStored(ledger, one, gaps);
          model.add(one);
          expect(openGaps(ledger)).toBeLessThanOrEqual(gaps);
          expect(ledger.lost + missingInGaps(ledger)).toBe(ledger.highest - model.size);
        }
      }),
    );
  });

  it('always keeps its ranges ascending and apart', () => {
    fc.assert(
      fc.property(numbers, gapsMax, (added, gaps) => {
        let before = 0;
        for (const { first, last } of fill(added, gaps).ranges) {
          expect(first).toBeGreaterThan(before === 0 ? 0 : before + 1);
          expect(last).toBeGreaterThanOrEqual(first);
          before = last;
        }
      }),
    );
  });

  it('always reads ranges back to the ledger that wrote them', () => {
    fc.assert(
      fc.property(numbers, (added) => {
        const ledger = fill(added);
        const back = ledger.ranges.reduce((sum, range) => addRange(sum, range), EMPTY_LEDGER);
        expect(back).toEqual(ledger);
      }),
    );
  });

  it('always says that it is unsure when it was forgotten', () => {
    expect(lookUp(UNSURE_LEDGER, 1)).toBe('unsure');
    const added = addStored(UNSURE_LEDGER, 7);
    expect(lookUp(added, 7)).toBe('unsure');
    expect(added.highest).toBe(7);
  });

  it('never counts a gap below the oldest number that is still stored', () => {
    fc.assert(
      fc.property(
        numbers.filter((all) => all.length > 0),
        (added) => {
          const oldest = Math.min(...added);
          const ledger = added.reduce((own, one) => addStored(own, one), ledgerFrom(oldest));
          const model = new Set(added);
          expect(missingInGaps(ledger)).toBe(Math.max(...added) - oldest + 1 - model.size);
          expect(ledger.lost).toBe(0);
          for (let n = 1; n <= NUMBERS_MAX; n += 1) {
            const wanted = n < oldest ? 'unsure' : model.has(n) ? 'stored' : 'unseen';
            expect(lookUp(ledger, n)).toBe(wanted);
          }
        },
      ),
    );
  });
});
