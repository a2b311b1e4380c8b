// Where exports go, and the days on their way there. A row is the job: whoever works on one names its epoch and is refused
// with Overtaken once another Console is designated. Every method rejects with StoreUnavailable. The secret of the target is
// sealed before it comes here. decision: D60, D157; invariant: I11
import type { TableDay } from '../../../machines/console/exports/export-run.rules.ts';
import type { ExportStanding } from '../../../machines/console/exports/standing.ts';
import type { ExportTarget } from '../../../machines/console/exports/target.rules.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type ExportTargetRow = ExportTarget & {
  /** Null: none is needed. */
  readonly secretSealed: string | null;
  readonly changedAtMs: number;
  readonly revision: number;
};

export type ExportRow = ExportStanding & TableDay;

/** One object as it was read back. */
export type ExportObject = {
  /** From 1. */
  readonly part: number;
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
};

export type ExportQuery = {
  readonly table?: string | undefined;
  readonly state?: ExportStanding['state'] | undefined;
  readonly limit: number;
  /** The newest day first; exclusive. */
  readonly before: TableDay | null;
};

export type ExportStore = {
  target(): Promise<ExportTargetRow | null>;
  /** Puts the target in place of the one with this revision; 0: there is none yet. */
  putTarget(
    input: AuditContext & {
      readonly revision: number;
      readonly target: ExportTarget & { readonly secretSealed: string | null };
    },
  ): Promise<ExportTargetRow | 'conflict'>;
  /** Puts the same secret in place under another key; false when it is not what was read any more. */
  reseal(input: { readonly was: string; readonly sealed: string }): Promise<boolean>;

  /** Adds runs of days that have none, and none were removed of. How many. */
  plan(input: {
    readonly epoch: number;
    readonly nowMs: number;
    readonly days: readonly TableDay[];
  }): Promise<number>;
  /** What another tenure worked on, or this one longer than its lease, waits again. How many. */
  reclaim(input: { readonly epoch: number; readonly nowMs: number }): Promise<number>;
  /** The run this tenure works on, or else the one that is due longest; null: nothing is due. Its lease begins. */
  claim(input: {
    readonly epoch: number;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
  }): Promise<ExportRow | null>;
  /**
   * Writes what a step came to, and the objects that it wrote. False: the run is not this tenure's any more, and nothing is
   * written. A run that is counted anew forgets its objects.
   */
  settle(input: {
    readonly epoch: number;
    readonly row: ExportRow;
    readonly objects: readonly ExportObject[];
  }): Promise<boolean>;

  list(query: ExportQuery): Promise<readonly ExportRow[]>;
  get(
    of: TableDay,
  ): Promise<{ readonly run: ExportRow; readonly objects: readonly ExportObject[] } | null>;
  /** Has a day exported from the start, with its audit row; a day without a run gets one. */
  order(input: AuditContext & TableDay): Promise<ExportRow | 'active'>;
  counts(): Promise<Readonly<Partial<Record<ExportStanding['state'], number>>>>;
  /**
   * Removes runs of days before this one that have ended; such days are never planned again, whatever clocks and targets
   * become, for what was exported is there and the event store may hold less of it by now. How many.
   */
  sweep(input: {
    readonly epoch: number;
    readonly beforeDay: string;
    readonly limit: number;
  }): Promise<number>;
};
