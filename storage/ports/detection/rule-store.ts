// Alert rules with their versions, and how far events were judged. Every method rejects with StoreUnavailable; changes are
// audited with them. decision: D131
import type { RuleSpec } from '../../../machines/detection/rule-spec.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

/** Why a rule was paused by the Console. */
export type RulePause = {
  readonly reason: 'too_costly' | 'too_many_matches' | 'too_many_alerts' | 'failed';
  readonly detail: string;
  readonly atMs: number;
};
export type RuleRow = {
  readonly ruleId: string;
  readonly spec: RuleSpec;
  /** From 1, one more with each change. */
  readonly version: number;
  readonly pause: RulePause | null;
  /** Since when this version judges events, by the Console's clock. */
  readonly activeSinceMs: number;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  readonly changedBy: string;
};
export type RuleVersion = {
  readonly version: number;
  readonly spec: RuleSpec;
  readonly atMs: number;
  readonly actor: string;
};

/** Of the rules that are counted over the fleet. It goes back with the horizon. decision: D152 */
export const FLEET_RULES_CURSOR = 'fleet-rules';

export type RuleStore = {
  /** By id. */
  list(): Promise<readonly RuleRow[]>;
  get(
    ruleId: string,
  ): Promise<{ readonly row: RuleRow; readonly versions: readonly RuleVersion[] } | null>;
  /**
   * Creates a rule (`version` null), or replaces it in the version that was read; it runs again if it was paused. Full:
   * there are RULES_MAX already. Older versions than the newest RULE_VERSIONS_KEPT_MAX are forgotten.
   */
  put(
    input: AuditContext & {
      readonly ruleId: string;
      readonly version: number | null;
      readonly spec: RuleSpec;
    },
  ): Promise<RuleRow | 'not_found' | 'conflict' | 'full'>;
  /** Its alerts stay. */
  remove(input: AuditContext & { readonly ruleId: string }): Promise<boolean>;
  /** Pauses a version; false when it is not the one in force, or paused already. */
  pause(input: {
    readonly ruleId: string;
    readonly version: number;
    readonly pause: RulePause;
  }): Promise<boolean>;

  /** Up to when, by the Console's clock, what was received is judged and its findings are kept; null before the first. */
  cursor(name: string): Promise<number | null>;
  /**
   * Moves a cursor on; never back. `fromMs`: only while it stands there, null for one that is not there yet. Whether it stands
   * where it was to go, or beyond.
   */
  advance(input: {
    readonly name: string;
    readonly receivedMs: number;
    readonly fromMs?: number | null;
  }): Promise<boolean>;
  /** Every cursor, by name. */
  cursors(): Promise<ReadonlyMap<string, number>>;
  /** Forgets a cursor that did not move since it was read. */
  dropCursor(input: { readonly name: string; readonly receivedMs: number }): Promise<void>;
};
