// What is written into the audit log about rules, the same in every store. decision: D35
import type { RuleSpec } from '../../../machines/detection/rule-spec.ts';
import type { AuditEntry } from '../audit/audit-log.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export function auditOfRule(
  { actor, nowMs: atMs, from }: AuditContext,
  of: {
    readonly action: 'alert_rule.create' | 'alert_rule.change' | 'alert_rule.remove';
    readonly ruleId: string;
    readonly result: string;
    readonly before?: RuleSpec;
    readonly after?: RuleSpec;
  },
): AuditEntry {
  const { action, ruleId: target, result, before, after } = of;
  return {
    ...{ atMs, actor, action, target, result, from, detail: {} },
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}
