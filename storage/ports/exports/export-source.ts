// What the event store holds of a day, for whoever copies it. Every call throws EventStoreUnavailable. decision: D157
import type { TableDay, Tally } from '../../../machines/console/exports/export-run.rules.ts';

export type ExportSource = {
  /** Each event once, and rows of other tables as they are read; the same for as long as the day holds the same. */
  tally(of: TableDay): Promise<Tally>;
};
