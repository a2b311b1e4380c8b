// The lines of the spool's journal, `events.jsonl`: JSON lines that begin with a checksum of the rest.
//   {"crc":"…","spool":1,"stream_id":…,"state":…,"cursor":…,"damaged":…}   first line, rewritten by compaction
//   {"crc":"…","n":17,"event":{…}}                        an event under its index
//   {"crc":"…","seal":{"from","to","drop","cursor",…}}    ends one append: the events counted, the cursor behind them, losses
//   {"crc":"…","change":{"kind":"claim",…}}               claim, ack, release, renumber, forget, told
// decision: D13
import { crc32 } from 'node:zlib';
import type { Losses } from '../../machines/sensor/loss-ledger.rules.ts';
import {
  EMPTY_SPOOL,
  type SpoolChange,
  type SpoolState,
} from '../../machines/sensor/spool.rules.ts';

const VERSION = 1;
const PREFIX_BYTES = '{"crc":"00000000",'.length;
const EVENT_MARK = Buffer.from('"n":');
const EVENT_VALUE = Buffer.from(',"event":');
const INDEX_DIGITS_MAX = 16;

export type JournalHeader = {
  readonly streamId: string;
  readonly state: SpoolState;
  readonly cursor: unknown;
  readonly damaged: number;
};
export type JournalSeal = {
  readonly from: number;
  readonly to: number;
  /** Oldest events this append pushed over the cap. */
  readonly drop: number;
  readonly cursor: unknown;
  /** The hour of the append, and what was lost on the way to it; older journals have neither. */
  readonly hour?: number;
  readonly lost?: Losses;
};
export type JournalLine =
  | { readonly kind: 'header'; readonly header: JournalHeader }
  | { readonly kind: 'event'; readonly index: number; readonly json: Buffer }
  | { readonly kind: 'seal'; readonly seal: JournalSeal }
  | { readonly kind: 'change'; readonly change: SpoolChange }
  | { readonly kind: 'damaged' };

const DAMAGED: JournalLine = { kind: 'damaged' };

/** One event's line, with its newline. */
export function encodeEvent(index: number, json: string): string {
  return encode(`"n":${index},"event":${json}}`);
}

export function encodeSeal(seal: JournalSeal): string {
  return encode(`"seal":${JSON.stringify(seal)}}`);
}

/** What a seal changes beside the events it counts. */
export function sealChanges({ drop, lost, hour }: JournalSeal): readonly SpoolChange[] {
  const dropped: SpoolChange = { kind: 'drop', count: drop, hour };
  return lost === undefined ? [dropped] : [dropped, { kind: 'lose', lost, hour }];
}

export function encodeChange(change: SpoolChange): string {
  return encode(`"change":${JSON.stringify(change)}}`);
}

export function encodeHeader(header: JournalHeader): string {
  const { streamId, ...rest } = header;
  return encode(JSON.stringify({ spool: VERSION, stream_id: streamId, ...rest }).slice(1));
}

function encode(body: string): string {
  return `{"crc":"${checksum(body)}",${body}\n`;
}

function checksum(body: string | Uint8Array): string {
  return crc32(body).toString(16).padStart(8, '0');
}

/** Reads one line without its newline; anything that is not exactly as written is damaged. Never throws. */
export function decodeLine(line: Buffer): JournalLine {
  if (line.length <= PREFIX_BYTES) return DAMAGED;
  const body = line.subarray(PREFIX_BYTES);
  if (line.toString('latin1', 0, PREFIX_BYTES) !== `{"crc":"${checksum(body)}",`) return DAMAGED;
  if (body.subarray(0, EVENT_MARK.length).equals(EVENT_MARK)) return decodeEvent(body);
  return decodeControl(`{${body.toString()}`);
}

function decodeEvent(body: Buffer): JournalLine {
  const end = body.indexOf(EVENT_VALUE);
  if (end < 0 || end > EVENT_MARK.length + INDEX_DIGITS_MAX) return DAMAGED;
  const index = Number(body.toString('latin1', EVENT_MARK.length, end));
  if (!Number.isSafeInteger(index) || index < 0) return DAMAGED;
  return { kind: 'event', index, json: body.subarray(end + EVENT_VALUE.length, body.length - 1) };
}

// The checksum proves that this program wrote the line, so its shape is trusted from here on.
function decodeControl(text: string): JournalLine {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    if (value['spool'] === VERSION) return { kind: 'header', header: headerOf(value) };
    if (value['seal'] !== undefined) return { kind: 'seal', seal: value['seal'] as JournalSeal };
    if (value['change'] !== undefined)
      return { kind: 'change', change: value['change'] as SpoolChange };
    return DAMAGED;
  } catch {
    return DAMAGED;
  }
}

function headerOf(value: Record<string, unknown>): JournalHeader {
  return {
    streamId: String(value['stream_id']),
    state: { ...EMPTY_SPOOL, ...(value['state'] as SpoolState) },
    cursor: value['cursor'] ?? null,
    damaged: Number(value['damaged'] ?? 0),
  };
}
