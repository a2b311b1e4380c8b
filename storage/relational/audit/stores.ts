// The stores of the audit log in PostgreSQL.
import type { AuditStores } from '../../ports/audit/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createAuditChain } from './audit-chain.ts';
import { createAuditLog } from './audit-log.ts';

/** Opens every store of this capability. */
export function openAuditStores({ db }: RelationalContext): AuditStores {
  return {
    audit: createAuditLog(db),
    auditChain: createAuditChain(db),
  };
}
