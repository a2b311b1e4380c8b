// What is kept of who did what.
import type { AuditChain } from './audit-chain.ts';
import type { AuditLog } from './audit-log.ts';

export type AuditStores = {
  readonly audit: AuditLog;
  readonly auditChain: AuditChain;
};
