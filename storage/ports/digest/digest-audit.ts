// What is written into the audit log about digests, the same in every store. A secret is in none of it, and of an address only
// where it leads. decision: D35; invariant: I11

import type { DigestPlan } from '../../../machines/console/digest/destination.rules.ts';
import { auditEntryOf } from '../audit/audit-entry.ts';
import type { AuditEntry, AuditFacts } from '../audit/audit-log.ts';
import type { DigestRow, DigestStore } from './digest-store.ts';

export function auditOfDigestCreate(
  input: Parameters<DigestStore['create']>[0],
  result: 'ok' | 'full' | 'conflict',
): AuditEntry {
  const { digest } = input;
  const entry = auditEntryOf(input, 'digest.create', digest.digestId, result);
  return result === 'ok' ? { ...entry, after: factsOf(digest) } : entry;
}

export function auditOfDigestChange(
  input: Parameters<DigestStore['change']>[0],
  before: DigestRow,
  after: DigestRow,
): AuditEntry {
  return {
    ...auditEntryOf(input, 'digest.change', input.digestId, 'ok'),
    before: factsOf(before),
    after: factsOf(after),
    detail: { is_secret_new: before.secretSealed !== after.secretSealed },
  };
}

export function auditOfDigestRemoval(
  input: Parameters<DigestStore['remove']>[0],
  before: DigestRow,
): AuditEntry {
  return {
    ...auditEntryOf(input, 'digest.remove', input.digestId, 'ok'),
    before: factsOf(before),
  };
}

function factsOf(plan: DigestPlan): AuditFacts {
  const { name, groupId, timeZone, at, isOn, way, caPem, proxyUrl } = plan;
  const place =
    way.kind === 'mail'
      ? {
          ...{ host: way.host, port: way.port, security: way.security, username: way.username },
          ...{ sender: way.sender, recipients: way.recipients },
        }
      : { target: new URL(way.targetUrl).host };
  return {
    ...{ name, group_id: groupId, time_zone: timeZone, at, is_on: isOn, kind: way.kind },
    ...place,
    ...{ has_own_ca: caPem !== null, has_proxy: proxyUrl !== null },
  };
}
