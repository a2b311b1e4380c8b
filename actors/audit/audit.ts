// The audit trail of trust actions, refused ones included. A trail that cannot be written is logged and does not change
// the answer: the action itself has happened, or has not.
import type { AuditEntry, AuditLog } from '../../storage/ports/audit/audit-log.ts';
import type { Logger } from '../runtime/logger.ts';

/** Appends one entry; never rejects. */
export async function record(
  deps: { readonly audit: AuditLog; readonly logger: Logger },
  entry: AuditEntry,
): Promise<void> {
  try {
    await deps.audit.append([entry]);
  } catch (error) {
    deps.logger.error(
      { action: entry.action, target: entry.target, result: entry.result, error: String(error) },
      'an audit entry was not written',
    );
  }
}
