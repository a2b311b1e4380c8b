// The one catalogue of audit actions; a retired one is never used for something else, since old rows keep their words.
import * as LIST from './console/audit-action-list.ts';
import { joined } from './joined.ts';

export const AUDIT_ACTIONS = joined(LIST);

/** A change or a read that was refused is written under its method and route. */
export type AuditAction = keyof typeof AUDIT_ACTIONS | `${string} /${string}`;
