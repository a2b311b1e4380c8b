// What the reference stores of different capabilities share, as the real ones share a database.
import type { AuditEntry } from '../../ports/audit/audit-log.ts';
import type { LabelsState } from '../fleet/labels.ts';
import type { RegistryState } from '../fleet/registry-state.ts';
import type { Fence } from '../runtime/designation.ts';

export type MemoryBase = {
  /** Writes an audit row at once. */
  readonly record: (entry: AuditEntry) => void;
  /** Judges the epoch of those who run what may run once. */
  readonly fence: Fence;
  readonly registry: RegistryState;
  readonly labels: LabelsState;
  readonly hasUser: (userId: string) => boolean;
};
