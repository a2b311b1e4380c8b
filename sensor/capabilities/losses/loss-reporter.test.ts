import { describe, expect, it } from 'vitest';
import { LOSS_REPORTS_OPEN_MAX } from '../../../machines/limits.ts';
import { EMPTY_LOSS_LEDGER, settle } from '../../../machines/sensor/loss-ledger.rules.ts';
import { createLossReporter } from './loss-reporter.ts';

const RUN = '0123456789abcdef';
const first = settle(EMPTY_LOSS_LEDGER, 10, { seen: 5 });
const second = settle(first, 11, { engine_lost: 2 });

describe('loss reporter', () => {
  it('should send an hour again until a report that held it is confirmed', () => {
    const reporter = createLossReporter(RUN);
    const [hour] = [{ hour: '1970-01-01T10:00:00.000Z', seen: 5 }];
    expect(reporter.next(first)).toEqual({
      run: RUN,
      report: 1,
      total: { seen: 5 },
      hours: [hour],
    });
    expect(reporter.next(first).hours).toEqual([hour]);
    expect(reporter.confirm({ run: RUN, report: 1 })).toEqual(first.hours);
    expect(reporter.confirm({ run: RUN, report: 1 })).toEqual([]);
    expect(reporter.next(first).hours).toEqual([]);
    expect(reporter.next(second).hours).toEqual([
      { hour: '1970-01-01T11:00:00.000Z', engine_lost: 2 },
    ]);
  });

  it('should not take the confirmation of what came before for one of what came since', () => {
    const reporter = createLossReporter(RUN);
    reporter.next(first);
    reporter.next(second);
    reporter.confirm({ run: RUN, report: 1 });
    expect(reporter.next(second).hours).toHaveLength(1);
    reporter.confirm({ run: RUN, report: 2 });
    reporter.confirm({ run: RUN, report: 1 });
    expect(reporter.next(second).hours).toEqual([]);
  });

  it('should heed no other run, no unknown report, and forget what was never answered', () => {
    const reporter = createLossReporter(RUN);
    reporter.next(first);
    reporter.confirm(undefined);
    reporter.confirm({ run: 'f'.repeat(16), report: 1 });
    reporter.confirm({ run: RUN, report: 99 });
    expect(reporter.next(first).hours).toHaveLength(1);
    for (let at = 0; at < LOSS_REPORTS_OPEN_MAX; at += 1) reporter.next(first);
    reporter.confirm({ run: RUN, report: 1 });
    expect(reporter.next(first).hours).toHaveLength(1);
  });
});
