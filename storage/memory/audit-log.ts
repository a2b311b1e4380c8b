// The reference audit log: entries in the order they came, nothing is ever changed or removed.
import type { AuditEntry, AuditLog } from '../ports/relational.ts';
import { storableText } from '../ports/stored-text.ts';
import { createAwaySwitch } from './away-switch.ts';

export type MemoryAudit = {
  readonly audit: AuditLog;
  /** Writes at once, for the fakes whose actions are audited. */
  record(entry: AuditEntry): void;
  setAway(away: boolean): void;
};

/** Makes an empty log. */
export function createMemoryAudit(): MemoryAudit {
  const { guard, setAway } = createAwaySwitch();
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
    setAway,
    audit: {
      append: guard((entries: readonly AuditEntry[]) => {
        for (const entry of entries) record(entry);
      }),
      recent: guard((limit: number) => kept.toReversed().slice(0, limit)),
    },
  };
}
