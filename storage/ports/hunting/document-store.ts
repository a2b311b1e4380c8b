// Documents that people write and loops move: saved searches, investigations with what they hold, exercises, and what is
// usual. Each lies under its own revision: a write names the one that it read, and its audit row goes with it. Every method
// rejects with StoreUnavailable; under an epoch that is over, writes reject with Overtaken. invariant: I15, I18;
// decision: D60, D144
import type { AuditEntry } from '../audit/audit-log.ts';

export type HuntingDocument<Body> = {
  readonly id: string;
  /** The document that it belongs to; null: none. */
  readonly parentId: string | null;
  readonly body: Body;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  readonly revision: number;
};

export type DocumentWrite = {
  readonly epoch?: number | undefined;
  readonly nowMs: number;
  readonly audit?: AuditEntry | undefined;
};

export type DocumentStore<Body> = {
  /** Newest first by id, below `before`; of one parent, where that is named. */
  list(query: {
    readonly parentId?: string | undefined;
    readonly limit: number;
    readonly before: string | null;
  }): Promise<readonly HuntingDocument<Body>[]>;
  get(id: string): Promise<HuntingDocument<Body> | null>;
  /** Full: there are `max` already, of this parent where it has one. Orphan: the parent is not there. */
  add(
    input: DocumentWrite & {
      readonly id: string;
      readonly parentId?: string | undefined;
      readonly body: Body;
      readonly max: number;
    },
  ): Promise<HuntingDocument<Body> | 'full' | 'orphan'>;
  change(
    input: DocumentWrite & { readonly id: string; readonly revision: number; readonly body: Body },
  ): Promise<HuntingDocument<Body> | 'not_found' | 'conflict'>;
  /** What belongs to it goes with it. */
  remove(input: DocumentWrite & { readonly id: string }): Promise<boolean>;
};
