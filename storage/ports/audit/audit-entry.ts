// What an act that was asked for leaves in the audit log, before anything is said of what it changed. decision: D35
import type { AuditAction } from '../../../machines/audit-actions.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';
import type { AuditEntry } from './audit-log.ts';

/** The entry of an act on one thing. */
export function auditEntryOf(
  { actor, nowMs: atMs, from }: AuditContext,
  action: AuditAction,
  target: string,
  result: string,
): AuditEntry {
  return { atMs, actor, action, target, result, from, detail: {} };
}
