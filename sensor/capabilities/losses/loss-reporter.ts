// Tells the Console the hours of the loss ledger that it does not have yet. What a report held is remembered until the
// Console confirms it by name; after a restart of the Sensor nothing is confirmed and every hour goes once more.
// decision: D48; invariant: I19
import { LOSS_REPORTS_OPEN_MAX } from '../../../machines/limits.ts';
import {
  EMPTY_LOSS_LEDGER,
  hoursChangedSince,
  type LossLedger,
  presentCounts,
  type SettledHour,
  startOfHourMs,
} from '../../../machines/sensor/loss-ledger.rules.ts';
import type { LossReport, LossStored } from '../../../machines/wire/loss.ts';

export type LossReporter = {
  /** The next report: what is settled now and not confirmed. */
  next(ledger: LossLedger): LossReport;
  /**
   * What the Console says it has; names of another run, and of reports long past, say nothing. The hours that it has now
   * and had not before, as they were told.
   */
  confirm(stored: LossStored | undefined): readonly SettledHour[];
};

/** Makes the reporter of one process; no other process of this Sensor has its `run`. */
export function createLossReporter(run: string): LossReporter {
  const open = new Map<number, LossLedger>();
  let confirmed = EMPTY_LOSS_LEDGER;
  let made = 0;
  return {
    next(ledger) {
      made += 1;
      open.set(made, ledger);
      const [oldest] = open.keys();
      if (open.size > LOSS_REPORTS_OPEN_MAX && oldest !== undefined) open.delete(oldest);
      const hours = hoursChangedSince(ledger, confirmed).map(({ hour, ...counts }) => ({
        hour: new Date(startOfHourMs(hour)).toISOString(),
        ...presentCounts(counts),
      }));
      return { run, report: made, total: presentCounts(ledger.total), hours };
    },
    confirm(stored) {
      const ledger = stored?.run === run ? open.get(stored.report) : undefined;
      if (stored === undefined || ledger === undefined) return [];
      const hours = hoursChangedSince(ledger, confirmed);
      confirmed = ledger;
      for (const report of open.keys()) if (report <= stored.report) open.delete(report);
      return hours;
    },
  };
}
