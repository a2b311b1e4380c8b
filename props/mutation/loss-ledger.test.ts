// Examples of the loss ledger that its properties leave open: which hour goes when a new one needs room. decision: D48
import { describe, expect, it } from 'vitest';
import { LOSS_HOURS_MAX } from '../../machines/limits.ts';
import {
  addLosses,
  confirmTold,
  EMPTY_LOSS_LEDGER,
  type LossLedger,
  presentCounts,
  type Settled,
  type SettledHour,
  settle,
  settleUndated,
} from '../../machines/sensor/loss-ledger.rules.ts';

const NOTHING: Settled = EMPTY_LOSS_LEDGER.total;
const settled = (hour: number, counts: Partial<Settled>): SettledHour => ({
  hour,
  ...NOTHING,
  ...counts,
});
const NEW = 1_000;
/** As many hours as may be kept, each with ten seen events and one of its number lost. */
function full(): LossLedger {
  let ledger = EMPTY_LOSS_LEDGER;
  for (let hour = 1; hour <= LOSS_HOURS_MAX; hour += 1) {
    ledger = settle(ledger, hour, { seen: 10, engine_lost: hour });
  }
  return ledger;
}
const hoursOf = ({ hours }: LossLedger): number[] => hours.map(({ hour }) => hour);
const one = ({ hours }: LossLedger, hour: number) => hours.find((found) => found.hour === hour);

describe('loss ledger, full', () => {
  it('should let the first hour go that the Console has whole, and touch no other', () => {
    const before = confirmTold(full(), [
      settled(9, { seen: 10, engine_lost: 9 }),
      settled(7, { seen: 10, engine_lost: 7 }),
    ]);
    const after = settle(before, NEW, { seen: 1 });
    expect(hoursOf(after)).toEqual([...hoursOf(before).filter((hour) => hour !== 7), NEW]);
    expect(after.hours.slice(0, -1)).toEqual(before.hours.filter(({ hour }) => hour !== 7));
    expect(after.told).toEqual([settled(9, { seen: 10, engine_lost: 9 })]);
    expect(after.total.seen).toBe(before.total.seen + 1);
  });

  it('should keep an hour of which the Console has only the seen or only the lost', () => {
    const before = confirmTold(full(), [
      settled(7, { seen: 10 }),
      settled(8, { engine_lost: 8 }),
      settled(9, { seen: 9, engine_lost: 9 }),
    ]);
    expect(hoursOf(settle(before, NEW, { seen: 1 }))).toEqual([
      ...hoursOf(before).filter((hour) => hour !== 2),
      NEW,
    ]);
  });

  it('should settle in the first hour what is untold of the second, and nothing else', () => {
    const before = confirmTold(full(), [settled(2, { seen: 4 }), settled(1, { seen: 10 })]);
    const after = settle(before, NEW, { kernel_lost: 3 });
    expect(one(after, 1)).toEqual(settled(1, { seen: 10 + 6, engine_lost: 1 + 2 }));
    expect(one(after, 2)).toBeUndefined();
    expect(after.hours.slice(1, -1)).toEqual(before.hours.slice(2));
    expect(one(after, NEW)).toEqual(settled(NEW, { kernel_lost: 3 }));
    expect(after.told).toEqual([settled(1, { seen: 10 })]);
  });

  it('should need no room for an hour that is there', () => {
    const before = full();
    const after = settle(before, 2, { seen: 1 });
    expect(hoursOf(after)).toEqual([...hoursOf(before).filter((hour) => hour !== 2), 2]);
    expect(one(after, 2)).toEqual(settled(2, { seen: 11, engine_lost: 2 }));
  });
});

describe('loss ledger, confirmed', () => {
  it('should go by the last report of an hour, and forget reports of hours that are gone', () => {
    const ledger = settle(settle(EMPTY_LOSS_LEDGER, 1, { seen: 5 }), 2, { seen: 6 });
    const first = confirmTold(ledger, [settled(1, { seen: 3 }), settled(99, { seen: 1 })]);
    expect(first.told).toEqual([settled(1, { seen: 3 })]);
    const next = confirmTold(first, [settled(1, { seen: 5 }), settled(2, { seen: 1 })]);
    expect(next.told).toEqual([settled(1, { seen: 5 }), settled(2, { seen: 1 })]);
    expect({ total: next.total, hours: next.hours }).toEqual({
      total: ledger.total,
      hours: ledger.hours,
    });
  });

  it('should know of nothing that is told while nothing was', () => {
    expect(settle(EMPTY_LOSS_LEDGER, 1, { seen: 1 }).told).toEqual([]);
    expect(confirmTold(EMPTY_LOSS_LEDGER, []).told).toEqual([]);
  });
});

describe('losses', () => {
  it('should add up by place and leave out what is none', () => {
    const sum = addLosses(
      { engine_lost: 1, kernel_lost: 2 },
      { engine_lost: 3, reader_skipped: 0 },
    );
    expect(sum).toEqual({ engine_lost: 4, kernel_lost: 2 });
    expect(presentCounts({ ...NOTHING, seen: 7 })).toEqual({ seen: 7 });
  });

  it('should settle what has no date in the hour that changed last', () => {
    const ledger = settle(settle(EMPTY_LOSS_LEDGER, 5, { seen: 1 }), 3, { seen: 1 });
    const after = settleUndated(ledger, { engine_lost: 2 });
    expect(one(after, 3)).toEqual(settled(3, { seen: 1, engine_lost: 2 }));
    expect(one(after, 5)).toEqual(settled(5, { seen: 1 }));
    const none = settleUndated(EMPTY_LOSS_LEDGER, { engine_lost: 2 });
    expect(none).toEqual({ ...EMPTY_LOSS_LEDGER, total: { ...NOTHING, engine_lost: 2 } });
  });
});
