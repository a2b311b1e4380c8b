// What is written into the audit log about exports, the same in every store. The secret is in none of it. decision: D35;
// invariant: I11
import { exportIdOf, type TableDay } from '../../../machines/console/exports/export-run.rules.ts';
import type { ExportTarget } from '../../../machines/console/exports/target.rules.ts';
import type { AuditEntry, AuditFacts } from '../audit/audit-log.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

type Kept = ExportTarget & { readonly secretSealed: string | null };

export function auditOfExportTarget(
  { actor, from, nowMs: atMs }: AuditContext,
  before: Kept | null,
  after: Kept,
): AuditEntry {
  return {
    ...{ atMs, actor, from, action: 'export.target', target: after.place.kind, result: 'ok' },
    ...(before === null ? {} : { before: factsOf(before) }),
    after: factsOf(after),
    detail: { is_secret_new: before?.secretSealed !== after.secretSealed },
  };
}

export function auditOfExportOrder(input: AuditContext & TableDay, result: string): AuditEntry {
  const { actor, from, nowMs: atMs } = input;
  return {
    ...{ atMs, actor, from, action: 'export.run', target: exportIdOf(input), result },
    detail: {},
  };
}

function factsOf({ place, prefix, tables, fromDay, isOn }: Kept): AuditFacts {
  const s3 =
    place.kind === 's3'
      ? {
          ...{ endpoint: place.endpoint, region: place.region, bucket: place.bucket },
          ...{ access_key_id: place.accessKeyId, has_own_ca: place.caPem !== null },
          proxy_url: place.proxyUrl ?? null,
        }
      : {};
  return { kind: place.kind, ...s3, prefix, tables, from_day: fromDay, is_on: isOn };
}
