// The reference store of the license: one row, the same promises as the real one. decision: D33
import {
  auditOfImport,
  type LicenseRow,
  type LicenseStore,
  type StoredLicense,
} from '../../ports/license/license-store.ts';
import { storableText } from '../../ports/plumbing/stored-text.ts';
import type { MemoryAudit } from '../audit/audit-log.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

/** The calls on no license. */
export function licenseCalls(log: Pick<MemoryAudit, 'record'>): Calls<LicenseStore> {
  let row: LicenseRow = { revision: 0, license: null, seenMs: 0 };
  return {
    observe({ nowMs, seenMs, revision }) {
      const told = revision === row.revision ? seenMs : 0;
      row = { ...row, seenMs: Math.max(row.seenMs, nowMs, told) };
      return row;
    },
    put(input) {
      if (input.revision !== row.revision) return null;
      const license: StoredLicense = {
        envelope: input.envelope,
        importedAtMs: input.nowMs,
        importedBy: storableText(input.actor),
      };
      row = { revision: row.revision + 1, license, seenMs: input.seenMs };
      log.record(auditOfImport(input));
      return row;
    },
  };
}
