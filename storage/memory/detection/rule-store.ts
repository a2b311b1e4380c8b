// The reference store of alert rules. decision: D131
import { RULE_VERSIONS_KEPT_MAX, RULES_MAX } from '../../../machines/limits.ts';
import type { AuditEntry } from '../../ports/audit/audit-log.ts';
import { auditOfRule } from '../../ports/detection/rule-audit.ts';
import type { RuleRow, RuleStore, RuleVersion } from '../../ports/detection/rule-store.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

type Note = (entry: AuditEntry) => void;

/** The calls on an empty store, over cursors that others move, too. */
export function memoryRuleCalls(record: Note, cursors: Map<string, number>): Calls<RuleStore> {
  const rows = new Map<string, RuleRow>();
  const versions = new Map<string, readonly RuleVersion[]>();
  return {
    list: () => [...rows.values()].sort((a, b) => (a.ruleId < b.ruleId ? -1 : 1)),
    get(ruleId) {
      const row = rows.get(ruleId);
      return row === undefined ? null : { row, versions: versions.get(ruleId) ?? [] };
    },
    put(input) {
      const { ruleId, version: asked, spec, nowMs, actor } = input;
      const before = rows.get(ruleId);
      const action = asked === null ? 'alert_rule.create' : 'alert_rule.change';
      if (asked !== null && before === undefined) return 'not_found';
      if (asked !== (before?.version ?? null)) return 'conflict';
      if (before === undefined && rows.size >= RULES_MAX) {
        record(auditOfRule(input, { action, ruleId, result: 'full' }));
        return 'full';
      }
      const version = (before?.version ?? 0) + 1;
      const row: RuleRow = {
        ...{ ruleId, spec, version, pause: null, activeSinceMs: nowMs, changedAtMs: nowMs },
        ...{ createdAtMs: before?.createdAtMs ?? nowMs, changedBy: actor },
      };
      rows.set(ruleId, row);
      const kept = [{ version, spec, atMs: nowMs, actor }, ...(versions.get(ruleId) ?? [])];
      versions.set(ruleId, kept.slice(0, RULE_VERSIONS_KEPT_MAX));
      const was = before === undefined ? {} : { before: before.spec };
      record(auditOfRule(input, { action, ruleId, result: 'ok', ...was, after: spec }));
      return row;
    },
    remove(input) {
      const before = rows.get(input.ruleId);
      if (before === undefined) return false;
      rows.delete(input.ruleId);
      versions.delete(input.ruleId);
      const { ruleId } = input;
      const told = { action: 'alert_rule.remove', ruleId, result: 'ok' } as const;
      record(auditOfRule(input, { ...told, before: before.spec }));
      return true;
    },
    pause({ ruleId, version, pause }) {
      const row = rows.get(ruleId);
      if (row?.version !== version || row.pause !== null) return false;
      rows.set(ruleId, { ...row, pause });
      return true;
    },
    cursor: (name) => cursors.get(name) ?? null,
    advance({ name, receivedMs, fromMs }) {
      const before = cursors.get(name);
      if (before !== undefined && fromMs !== undefined && before !== fromMs) return false;
      cursors.set(name, Math.max(before ?? Number.NEGATIVE_INFINITY, receivedMs));
      return true;
    },
    cursors: () => new Map(cursors),
    dropCursor({ name, receivedMs }) {
      if (cursors.get(name) === receivedMs) cursors.delete(name);
    },
  };
}
