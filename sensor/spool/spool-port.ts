// What the rest of the Sensor asks of the spool. Calls are served in the order they were made, one at a time.
// invariant: I5, I6; decision: D6, D13
import type { Losses, LossLedger, SettledHour } from '../../machines/sensor/loss-ledger.rules.ts';
import type { RuntimeEvent } from '../../machines/wire/event.ts';
import type { Channel } from '../../machines/wire/scalars.ts';

/** Opaque to the spool: where the engine's export was read up to, as plain JSON. */
export type ExportCursor = unknown;

export type AppendResult =
  | { readonly ok: true; readonly dropped: number }
  /** Nothing is known to be stored: go on reading at `cursor()` later, which may have moved by then. */
  | {
      readonly ok: false;
      readonly reason: 'disk_full' | 'disk_refuses' | 'closed' | 'cursor_moved';
    };

export type ClaimedBatch = {
  readonly channel: Channel;
  readonly sequence: number;
  /** The events' JSON texts, oldest first; never empty. */
  readonly lines: readonly string[];
  /** The same events parsed, on first use. */
  readonly events: readonly RuntimeEvent[];
  /** It is as large as was allowed, in events or in bytes: more may wait behind it. */
  readonly isFull: boolean;
};

export type ClaimOptions = {
  readonly maxEvents: number;
  /** Of the events' JSON texts; one event is taken even when it alone is larger. */
  readonly maxBytes: number;
};

export type SpoolStatus = {
  readonly state: 'recovering' | 'ready' | 'full' | 'failing' | 'closed';
  readonly depth: number;
  /** Events the cap dropped, ever. */
  readonly discarded: number;
  /** Stored lines that could not be read again, ever. */
  readonly damaged: number;
  readonly journalBytes: number;
};

export type Spool = {
  /** 32 hex digits, made once for a state directory. */
  readonly streamId: string;
  /**
   * Stores events and the cursor behind them together, or neither. Durable when it resolves. Never rejects. A refusal by
   * the disk leaves open which of the two it was until the journal was read anew; so `from`, the cursor that the events
   * were read from, must still be the spool's own, or they may be in the journal already. `lost` is what did not get so
   * far between the two cursors; it is settled with them.
   */
  append(
    events: readonly RuntimeEvent[],
    cursor: ExportCursor,
    from?: ExportCursor,
    lost?: Losses,
  ): Promise<AppendResult>;
  /**
   * The channel's open batch, the same again until it is acknowledged or the cap drops into it, else a new one of the
   * oldest unclaimed events, durable before it is returned. Null: nothing to send, or the disk refuses (see `status`).
   */
  claim(channel: Channel, options: ClaimOptions): Promise<ClaimedBatch | null>;
  /** The name of the channel's open batch. */
  openClaim(channel: Channel): { readonly sequence: number; readonly events: number } | null;
  /**
   * Ends exactly the named batch, or what the cap left of it while it was under way. False when it is another one, or
   * the disk refuses and it will be sent again.
   */
  acknowledge(channel: Channel, sequence: number): Promise<boolean>;
  /** The same for a batch that the Console will never take: its events are settled as refused. */
  refuse(channel: Channel, sequence: number): Promise<boolean>;
  /** After `sequence_conflict`: the open batch goes on under the channel's next number. Null when not open or not durable. */
  renumber(channel: Channel, sequence: number): Promise<number | null>;
  /** Gives the events of an open batch back, for another channel; its number is never used again. */
  release(channel: Channel, sequence: number): Promise<boolean>;
  /** Takes down hours of the ledger that the Console has, so that these may go. A disk that refuses costs nothing else. */
  confirmTold(hours: readonly SettledHour[]): Promise<void>;
  depth(): number;
  discarded(): number;
  /** Every event that is held no more, and every one that never came: seen, or lost and where. invariant: I19 */
  ledger(): LossLedger;
  /** The cursor of the last durable append; null at first. */
  cursor(): ExportCursor;
  status(): SpoolStatus;
  /** Finishes waiting calls, then lets go of the file. Idempotent. */
  close(): Promise<void>;
};

export type OpenSpoolResult =
  | { readonly ok: true; readonly spool: Spool }
  | { readonly ok: false; readonly reason: 'disk_full' | 'disk_refuses'; readonly detail: string };
