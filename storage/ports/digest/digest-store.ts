// Digests as admins set them up, and one row for each local day of each: it is written with the claim, before anything
// leaves, and only there can a day be claimed, once. Whoever works on one names its epoch and is refused with Overtaken once
// another Console is designated. Secrets are sealed before they come here. Every method rejects with StoreUnavailable.
// decision: D60, D166; invariant: I11
import type { DigestPlan } from '../../../machines/console/digest/destination.rules.ts';
import type { LocalDay } from '../../../machines/console/digest/digest-due.rules.ts';
import type { DigestStanding } from '../../../machines/console/digest/standing.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type DigestRow = DigestPlan & {
  readonly digestId: string;
  /** The password of the mail server, or what a webhook is signed with; null: there is none. */
  readonly secretSealed: string | null;
  /** Nothing that was due before is sent: it was set up, moved or switched on then. */
  readonly sinceMs: number;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  readonly revision: number;
};
export type NewDigest = Omit<DigestRow, 'createdAtMs' | 'changedAtMs' | 'revision'>;
export type DigestPatch = Omit<NewDigest, 'digestId'>;

export type DigestRunKey = { readonly digestId: string; readonly day: LocalDay };
export type DigestRun = DigestStanding &
  DigestRunKey & {
    /** What it tells of. */
    readonly fromMs: number;
    readonly toMs: number;
  };

export type DigestStore = {
  /** By id. */
  list(): Promise<readonly DigestRow[]>;
  get(digestId: string): Promise<DigestRow | null>;
  /** Full: there are DIGESTS_MAX already. Conflict: the name is taken. */
  create(
    input: AuditContext & { readonly digest: NewDigest },
  ): Promise<DigestRow | 'full' | 'conflict'>;
  /** Only of the revision that was read. */
  change(
    input: AuditContext & {
      readonly digestId: string;
      readonly revision: number;
      readonly patch: DigestPatch;
    },
  ): Promise<DigestRow | 'not_found' | 'conflict'>;
  /** With its runs. */
  remove(input: AuditContext & { readonly digestId: string }): Promise<boolean>;
  /** Puts the same secret in place under another key; false when it is not what was read any more. */
  reseal(input: {
    readonly digestId: string;
    readonly was: string;
    readonly sealed: string;
  }): Promise<boolean>;

  /**
   * Begins a day, and writes down the days before it that were missed. Null: the digest is gone, or the day or a later one
   * has a row already; nothing is written then.
   */
  begin(input: {
    readonly epoch: number;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
    readonly digestId: string;
    readonly day: LocalDay;
    readonly fromMs: number;
    readonly toMs: number;
    readonly missed: readonly LocalDay[];
  }): Promise<DigestRun | null>;
  /** Begins another attempt of the run that waits longest and is due; null: there is none. */
  retry(input: {
    readonly epoch: number;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
  }): Promise<DigestRun | null>;
  /** Writes what an attempt came to. False: the run is not this tenure's any more, and nothing is written. */
  settle(input: { readonly epoch: number; readonly run: DigestRun }): Promise<boolean>;
  /** Ends what another tenure was sending, or this one longer than its lease: it may have arrived. Those that ended. */
  reclaim(input: {
    readonly epoch: number;
    readonly nowMs: number;
  }): Promise<readonly DigestRunKey[]>;
  /** The newest day first. */
  runs(query: { readonly digestId: string; readonly limit: number }): Promise<readonly DigestRun[]>;
  /** Removes runs of days before this one that have ended. How many. */
  sweep(input: {
    readonly epoch: number;
    readonly beforeDay: LocalDay;
    readonly limit: number;
  }): Promise<number>;
};
