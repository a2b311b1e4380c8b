// What is written into the audit log about SIEM destinations, the same in every store. A secret is in none of it, and of an
// address only where it leads. decision: D35; invariant: I11
import { auditEntryOf } from '../audit/audit-entry.ts';
import type { AuditEntry, AuditFacts } from '../audit/audit-log.ts';
import type { SiemRow, SiemStore } from './siem-store.ts';

export function auditOfSiemCreate(
  input: Parameters<SiemStore['create']>[0],
  result: 'ok' | 'full' | 'conflict',
): AuditEntry {
  const { destination } = input;
  const entry = auditEntryOf(input, 'siem.create', destination.destinationId, result);
  return result === 'ok' ? { ...entry, after: factsOf(destination) } : entry;
}

export function auditOfSiemChange(
  input: Parameters<SiemStore['change']>[0],
  before: SiemRow,
  after: SiemRow,
): AuditEntry {
  return {
    ...auditEntryOf(input, 'siem.change', input.destinationId, 'ok'),
    before: factsOf(before),
    after: factsOf(after),
    detail: { is_secret_new: before.secretSealed !== after.secretSealed },
  };
}

export function auditOfSiemOrder(input: Parameters<SiemStore['order']>[0]): AuditEntry {
  const { event, destinationId } = input;
  const action = event.type === 'destination.paused' ? 'siem.pause' : 'siem.resume';
  const entry = auditEntryOf(input, action, destinationId, 'ok');
  if (event.type === 'destination.paused' || event.fromMs === null) return entry;
  return { ...entry, detail: { from: new Date(event.fromMs).toISOString() } };
}

export function auditOfSiemRemoval(
  input: Parameters<SiemStore['remove']>[0],
  before: SiemRow,
): AuditEntry {
  return {
    ...auditEntryOf(input, 'siem.remove', input.destinationId, 'ok'),
    before: factsOf(before),
  };
}

function factsOf(row: Omit<SiemRow, 'createdAtMs' | 'changedAtMs' | 'revision'>): AuditFacts {
  const { kind, name, targetUrl, filter, options, hasToken } = row;
  return {
    ...{ kind, name, target: originOf(targetUrl), filter, has_token: hasToken },
    has_own_ca: options.caPem !== null,
    has_proxy: options.proxyUrl !== null,
  };
}

function originOf(address: string): string {
  const whole = address.replace(/^tls:/, 'https:');
  return URL.canParse(whole) ? new URL(whole).host : '';
}
