// SIEM destinations: where stored events are forwarded to. Operators change what a destination is, the Console that is
// designated moves where it stands, and neither undoes the other: moves are events of the machine on the row as it is then.
// Every method rejects with StoreUnavailable; changes are audited with them. invariant: I11, I18; decision: D60, D153

import type { SiemKindName } from '../../../machines/console/siem/kinds/kinds.ts';
import type { SiemEvent } from '../../../machines/console/siem/siem-destination.machine.ts';
import type { SiemStanding } from '../../../machines/console/siem/siem-standing.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type SiemOptions = {
  readonly caPem: string | null;
  readonly proxyUrl: string | null;
  readonly category: string | null;
  readonly sourceName: string | null;
};
export type SiemRow = {
  readonly destinationId: string;
  readonly kind: SiemKindName;
  /** Unique among them. */
  readonly name: string;
  /** Without its path where that is a secret. */
  readonly targetUrl: string;
  /** The token, and the path where that is a secret, as one sealed text; null: there is none. */
  readonly secretSealed: string | null;
  readonly hasToken: boolean;
  /** Which events are forwarded, in the language of searches; empty: all. */
  readonly filter: string;
  readonly options: SiemOptions;
  readonly standing: SiemStanding;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  readonly revision: number;
};
export type SiemPatch = Partial<
  Pick<SiemRow, 'name' | 'targetUrl' | 'secretSealed' | 'hasToken' | 'filter' | 'options'>
>;
export type SiemMove = { readonly destinationId: string; readonly event: SiemEvent };

export type SiemStore = {
  /** By id. */
  list(): Promise<readonly SiemRow[]>;
  get(destinationId: string): Promise<SiemRow | null>;
  /** Full: there are SIEM_DESTINATIONS_MAX already. Conflict: the name is taken. */
  create(
    input: AuditContext & {
      readonly destination: Omit<SiemRow, 'createdAtMs' | 'changedAtMs' | 'revision'>;
    },
  ): Promise<SiemRow | 'full' | 'conflict'>;
  /** Only of the revision that was read. */
  change(
    input: AuditContext & {
      readonly destinationId: string;
      readonly revision: number;
      readonly patch: SiemPatch;
    },
  ): Promise<SiemRow | 'not_found' | 'conflict'>;
  /** What an operator orders of a destination, with its audit row. */
  order(
    input: AuditContext & {
      readonly destinationId: string;
      readonly event: Extract<SiemEvent, { type: 'destination.paused' | 'destination.resumed' }>;
    },
  ): Promise<SiemRow | 'not_found'>;
  remove(input: AuditContext & { readonly destinationId: string }): Promise<boolean>;
  /** Moves destinations as they are now, in this order; one that is gone is left out. Rejects with Overtaken. */
  move(input: { readonly epoch: number; readonly moves: readonly SiemMove[] }): Promise<void>;
  /** Puts the same secret in place under another key; false when it is not what was read any more. */
  reseal(input: {
    readonly destinationId: string;
    readonly was: string;
    readonly sealed: string;
  }): Promise<boolean>;
};
