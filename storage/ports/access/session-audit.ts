// What ending sessions writes into the audit log, the same in every store; a session is named by its id, never by its
// hash. invariant: I11

import type { AuditEntry } from '../audit/audit-log.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';
import type { SessionRow } from './sessions.ts';

/** One session ended. */
export function auditOfSessionEnd(doing: AuditContext, session: SessionRow): AuditEntry {
  const { sessionId, userId, method, address, createdAtMs } = session;
  return {
    atMs: doing.nowMs,
    actor: doing.actor,
    action: 'session.end',
    target: sessionId,
    result: 'ok',
    from: doing.from,
    before: { is_ended: false },
    after: { is_ended: true },
    detail: { user_id: userId, method, address, created_at_ms: createdAtMs },
  };
}

/** All sessions of a person ended but one. */
export function auditOfSessionsEnd(
  input: AuditContext & { readonly userId: string; readonly keep: Buffer | null },
  ended: number,
): AuditEntry {
  return {
    atMs: input.nowMs,
    actor: input.actor,
    action: 'session.end_all',
    target: input.userId,
    result: 'ok',
    from: input.from,
    detail: { sessions_ended: ended, kept_own: input.keep !== null },
  };
}
