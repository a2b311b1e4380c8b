// The reference audit log: entries in the order they came, nothing is ever changed or removed.
import type { AuditEntry, AuditLog } from '../ports/relational.ts';
import { storableText } from '../ports/stored-text.ts';
import { createAwaySwitch } from './away-switch.ts';
import { type Calls, portOf } from './unsafe-port-of.ts';

export type MemoryAudit = {
  readonly audit: AuditLog;
  /** Writes at once, for the fakes whose actions are audited. */
  record(entry: AuditEntry): void;
  setAway(away: boolean): void;
};

/** Makes an empty log on a switch. */
export function createMemoryAudit(): MemoryAudit {
  const { ask, setAway } = createAwaySwitch();
  const { record, calls } = auditCalls();
  return { record, setAway, audit: portOf<AuditLog>('audit', calls, ask) };
}

/** The calls on an empty log. */
export function auditCalls(): Pick<MemoryAudit, 'record'> & { readonly calls: Calls<AuditLog> } {
  const kept: AuditEntry[] = [];
  function record(entry: AuditEntry): void {
    kept.push({
      ...entry,
      actor: storableText(entry.actor),
      target: storableText(entry.target),
      detail: structuredClone(entry.detail),
    });
  }
  return {
    record,
    calls: {
      append(entries) {
        for (const entry of entries) record(entry);
      },
      recent: (limit) => kept.slice(-Math.max(1, limit)).toReversed().slice(0, limit),
    },
  };
}
