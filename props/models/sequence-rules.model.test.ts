// The ledger of stored numbers beside the store itself, as a set: while both live through arrivals, repeats, ranges read
// back and a restart, the ledger never calls stored what is not, and never forgets what lies above its closed part.
// invariant: I1, I10
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  addRange,
  addStored,
  EMPTY_LEDGER,
  ledgerFrom,
  lookUp,
  openGaps,
  type SequenceLedger,
} from '../../machines/console/telemetry/sequence.rules.ts';
import { itAgrees, type Move, move } from './driver.ts';

const NUMBERS_MAX = 60;
const GAPS_MAX = 3;
type Model = { stored: Set<number> };
type Real = { ledger: SequenceLedger };

// As the shell does: what the ledger is unsure of is settled by the store.
function arrive(model: Model, real: Real, number: number): void {
  const known = lookUp(real.ledger, number);
  const isStored = known === 'stored' || (known === 'unsure' && model.stored.has(number));
  expect(isStored).toBe(model.stored.has(number));
  if (isStored) return;
  model.stored.add(number);
  real.ledger = addStored(real.ledger, number, GAPS_MAX);
}
const any = fc.integer({ min: 1, max: NUMBERS_MAX }).map(
  (number): Move<Model, Real> => ({
    name: `arrive(${number})`,
    run: (model, real) => arrive(model, real, number),
  }),
);
const inOrder = fc.integer({ min: 1, max: 6 }).map(
  (count): Move<Model, Real> => ({
    name: `next ${count}`,
    run(model, real) {
      for (let at = 0; at < count; at += 1) arrive(model, real, real.ledger.highest + 1);
    },
  }),
);
const restart = move<Model, Real>('restart', (model, real) => {
  const numbers = [...model.stored].sort((a, b) => a - b);
  const [oldest] = numbers;
  real.ledger = oldest === undefined ? EMPTY_LEDGER : ledgerFrom(oldest);
  for (const first of numbers)
    real.ledger = addRange(real.ledger, { first, last: first }, GAPS_MAX);
});

describe('sequence ledger', () => {
  itAgrees<Model, Real, undefined>({
    input: fc.constant(undefined),
    begin: () => ({ model: { stored: new Set() }, real: { ledger: EMPTY_LEDGER } }),
    moves: [any, any, any, inOrder, restart],
    agree({ stored }, { ledger }) {
      expect(ledger.highest).toBe(Math.max(0, ...stored));
      expect(openGaps(ledger)).toBeLessThanOrEqual(GAPS_MAX);
      for (let number = 1; number <= ledger.highest + 1; number += 1) {
        const known = lookUp(ledger, number);
        if (number > ledger.closedThrough) {
          expect(known).toBe(stored.has(number) ? 'stored' : 'unseen');
        } else expect(known === 'stored' ? stored.has(number) : known === 'unsure').toBe(true);
      }
    },
  });
});
