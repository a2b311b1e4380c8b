// The inbox. What is found is counted with its matches in one write, so that a match is in exactly one alert, once, however
// often it is handed over. Every method rejects with StoreUnavailable, and with Overtaken under an epoch that is over.
// decision: D60, D130; invariant: I15
import type {
  Alert,
  AlertKind,
  AlertSeverity,
  AlertSource,
} from '../../../machines/console/delivery/alert.ts';
import type {
  AlertResolution,
  AlertStateName,
} from '../../../machines/console/detection/alert.machine.ts';
import type { AlertStanding } from '../../../machines/console/detection/alert-standing.ts';
import type { Finding } from '../../../machines/console/detection/finding.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type AlertRow = AlertStanding & {
  readonly alert: Alert;
  readonly group: Readonly<Record<string, string>>;
  /** The alert that was resolved before, of the same key. */
  readonly reopens: string | null;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  /** Null: webhooks have yet to be told. */
  readonly toldAtMs: number | null;
  readonly revision: number;
};

/** What happened to an alert: every move but counting, and what people wrote. */
export type AlertNote = {
  /** From 1, without gaps. */
  readonly sequence: number;
  readonly atMs: number;
  /** `console` for what no person did. */
  readonly actor: string;
  readonly what: 'opened' | 'acknowledged' | 'assigned' | 'resolved' | 'reopened' | 'commented';
  readonly text: string;
};

export type AlertAct =
  | { readonly act: 'acknowledge' }
  | { readonly act: 'assign'; readonly to: string | null }
  | { readonly act: 'resolve'; readonly resolution: AlertResolution; readonly text?: string }
  /** Opens one of its own, with this id. */
  | { readonly act: 'reopen'; readonly as: string }
  | { readonly act: 'comment'; readonly text: string };

export type AlertFilter = {
  readonly states?: readonly AlertStateName[] | undefined;
  readonly severities?: readonly AlertSeverity[] | undefined;
  readonly kinds?: readonly AlertKind[] | undefined;
  readonly sources?: readonly AlertSource[] | undefined;
  readonly sensorId?: string | undefined;
  readonly ruleId?: string | undefined;
  readonly assignee?: string | undefined;
  /** Begun at or after, and before. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Part of the headline or of the node's name, whatever the case of ASCII letters. */
  readonly text?: string | undefined;
};
export type AlertQuery = AlertFilter & {
  readonly limit: number;
  /** Newest first, below this id. */
  readonly before: string | null;
};

export type AlertMatch = { readonly matchId: string; readonly atMs: number };

export type AlertStore = {
  /**
   * Counts what was found. Matches of a rule that were counted before are left out, and a finding without others changes
   * nothing. One alert of a key is live at most: its matches go there; after it was resolved they go to a new one that
   * names it, except in its quiet time. The alerts that are new, in the order of the findings.
   */
  raise(input: {
    readonly epoch?: number | undefined;
    readonly nowMs: number;
    readonly findings: readonly Finding[];
  }): Promise<readonly AlertRow[]>;
  /** Those that webhooks have yet to be told of, oldest first. */
  untold(limit: number): Promise<readonly AlertRow[]>;
  /** Of the revision that was told; one that changed since is told again if it has to be. */
  told(input: {
    readonly epoch: number;
    readonly nowMs: number;
    readonly alerts: readonly { readonly alertId: string; readonly revision: number }[];
  }): Promise<void>;

  list(query: AlertQuery): Promise<readonly AlertRow[]>;
  get(alertId: string): Promise<{
    readonly row: AlertRow;
    readonly notes: readonly AlertNote[];
  } | null>;
  /** Matches that are events, newest first, below a match. */
  events(input: {
    readonly alertId: string;
    readonly limit: number;
    readonly before: AlertMatch | null;
  }): Promise<readonly AlertMatch[]>;
  /** Which of these matches of a rule are counted. */
  counted(input: {
    readonly ruleId: string;
    readonly matchIds: readonly string[];
  }): Promise<ReadonlySet<string>>;
  /** How many live ones there are, by state and severity. */
  counts(): Promise<
    readonly {
      readonly state: AlertStateName;
      readonly severity: AlertSeverity;
      readonly count: number;
    }[]
  >;
  /** How many live ones each rule has. */
  liveByRule(): Promise<ReadonlyMap<string, number>>;
  /** Does one thing to each, with its audit row. In the order of the ids; refused: its state does not take it. */
  act(
    input: AuditContext & {
      readonly epoch?: number | undefined;
      readonly alertIds: readonly string[];
      readonly act: AlertAct;
    },
  ): Promise<
    readonly { readonly alertId: string; readonly result: AlertRow | 'not_found' | 'refused' }[]
  >;
  /** Resolves what is live of these keys as passed: what they told of is over. How many. */
  pass(input: {
    readonly epoch?: number | undefined;
    readonly nowMs: number;
    readonly dedupKeys: readonly string[];
  }): Promise<number>;
  /**
   * Removes settled ones that did not change since before then, the oldest first, with all that belongs to them. What an
   * investigation holds that is not closed stays. How many.
   */
  sweep(input: {
    readonly epoch: number;
    readonly changedBeforeMs: number;
    readonly limit: number;
  }): Promise<number>;
};
