// Settings by name, each with a revision, so that two people who change one at the same time notice. Every method rejects
// with StoreUnavailable; a change is audited with what was before and after. decision: D38

import type { AuditEntry } from '../audit/audit-log.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type SettingRow = {
  readonly name: string;
  readonly value: unknown;
  readonly revision: number;
  readonly changedAtMs: number;
  readonly changedBy: string;
};

export type SettingsStore = {
  list(): Promise<readonly SettingRow[]>;
  /**
   * Puts several settings at once. `revisions` names what the caller saw (0: never set), also of settings that it only
   * looked at; any other makes it a conflict and nothing is changed. Of many at once each finds what the one before left.
   */
  put(
    input: AuditContext & {
      readonly values: Readonly<Record<string, unknown>>;
      readonly revisions: Readonly<Record<string, number>>;
    },
  ): Promise<
    | { readonly ok: true; readonly rows: readonly SettingRow[] }
    | { readonly ok: false; readonly conflicts: readonly string[] }
  >;
};

/** Whose revisions a change is judged by, in one order. */
export function namesJudged({
  values,
  revisions,
}: Pick<Parameters<SettingsStore['put']>[0], 'values' | 'revisions'>): readonly string[] {
  return [...new Set([...Object.keys(values), ...Object.keys(revisions)])].sort();
}

/** The audit row of a change, the same in every store. */
export function auditOfSettings(
  input: Parameters<SettingsStore['put']>[0],
  before: Readonly<Record<string, unknown>>,
): AuditEntry {
  return {
    atMs: input.nowMs,
    actor: input.actor,
    action: 'settings.change',
    target: Object.keys(input.values).sort().join(','),
    result: 'ok',
    from: input.from,
    before,
    after: input.values,
    detail: {},
  };
}
