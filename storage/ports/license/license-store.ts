// The license of the deployment and the largest time seen, shared by every Console on one database. Throws
// StoreUnavailable when the database cannot answer. decision: D33
import type { AuditEntry, AuditFacts } from '../audit/audit-log.ts';

export type StoredLicense = {
  /** The envelope as JSON text, as it was imported; whoever reads it checks its signature again. */
  readonly envelope: string;
  readonly importedAtMs: number;
  readonly importedBy: string;
};
export type LicenseRow = {
  /** Grows by one with every import. */
  readonly revision: number;
  readonly license: StoredLicense | null;
  readonly seenMs: number;
};

export type LicenseStore = {
  /**
   * Notes the time and reads the row. `seenMs` counts only as long as `revision` is the one in force, because an import
   * may begin the largest time seen anew; `nowMs` always does. What is stored never goes back by this call.
   */
  observe(input: {
    readonly nowMs: number;
    readonly seenMs: number;
    readonly revision: number;
  }): Promise<LicenseRow>;
  /**
   * Replaces the license and sets the largest time seen, together with its audit row; null when `revision` is no longer
   * the one in force, and then nothing changes.
   */
  put(input: {
    readonly revision: number;
    readonly licenseId: string;
    readonly envelope: string;
    readonly seenMs: number;
    readonly nowMs: number;
    readonly actor: string;
    readonly from?: string | undefined;
    /** What changed, for the audit row. */
    readonly before: AuditFacts | null;
    readonly after: AuditFacts;
  }): Promise<LicenseRow | null>;
};

/** The audit row of an import, the same in every store. */
export function auditOfImport(input: Parameters<LicenseStore['put']>[0]): AuditEntry {
  return {
    atMs: input.nowMs,
    actor: input.actor,
    action: 'license.import',
    target: input.licenseId,
    result: 'ok',
    from: input.from,
    before: input.before,
    after: input.after,
    detail: {},
  };
}
