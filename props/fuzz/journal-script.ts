// A valid journal of the spool, written by a script of bytes, with what a reader of it must find: the state after each
// line that ends a change, and the lines that hold events.

import {
  applyChange,
  EMPTY_SPOOL,
  openClaim,
  overflow,
  planClaim,
  type SpoolChange,
  type SpoolState,
} from '../../machines/sensor/spool.rules.ts';
import type { Channel } from '../../machines/wire/scalars.ts';
import { encodeChange, encodeEvent, encodeHeader, encodeSeal } from '../../sensor/spool/journal.ts';

const EVENTS_MAX = 12;
const CLAIM_MAX = 4;
const CHANNELS: readonly Channel[] = ['stream', 'heartbeat', 'batch'];
export const STREAM_ID = 'c'.repeat(32);

export type ScriptLine = {
  readonly text: string;
  /** The event's index, or null for a line that ends a change. */
  readonly event: number | null;
  /** What stands when the file ends after this line; null where no crash can end it. */
  readonly after: { readonly state: SpoolState; readonly cursor: unknown } | null;
};
export type Script = {
  readonly lines: readonly ScriptLine[];
  readonly state: SpoolState;
  readonly cursor: unknown;
};

export function eventJson(index: number): string {
  return `{"message":"event ${index}"}`;
}

/** Indices that a state holds. */
export function heldBy(state: SpoolState): number[] {
  const isDone = (at: number) => state.done.some((range) => range.from <= at && at < range.to);
  const all = Array.from({ length: state.tail - state.head }, (_, at) => state.head + at);
  return all.filter((at) => !isDone(at));
}

/** Writes the journal that a script of steps leads to. */
export function journalOf(steps: Uint8Array): Script {
  let lines: ScriptLine[] = [];
  let state = EMPTY_SPOOL;
  let cursor: unknown = null;

  function begin(): void {
    const held = heldBy(state);
    const after = { state, cursor };
    const text = encodeHeader({ streamId: STREAM_ID, state, cursor, damaged: 0 });
    lines = [{ text, event: null, after: held.length === 0 ? after : null }];
    held.forEach((event, at) => {
      const isLast = at === held.length - 1;
      lines.push({
        text: encodeEvent(event, eventJson(event)),
        event,
        after: isLast ? after : null,
      });
    });
  }

  function change(made: SpoolChange): void {
    state = applyChange(state, made);
    lines.push({ text: encodeChange(made), event: null, after: { state, cursor } });
  }

  function append(count: number): void {
    const before = { state, cursor };
    const from = state.tail;
    for (let event = from; event < from + count; event += 1) {
      lines.push({ text: encodeEvent(event, eventJson(event)), event, after: before });
    }
    state = applyChange(state, { kind: 'append', count });
    const drop = overflow(state, EVENTS_MAX);
    cursor = { offset: state.tail };
    const seal = { from, to: state.tail, drop, cursor };
    state = applyChange(state, { kind: 'drop', count: drop });
    lines.push({ text: encodeSeal(seal), event: null, after: { state, cursor } });
  }

  begin();
  for (const step of steps) {
    const channel = CHANNELS[(step >> 4) % CHANNELS.length] ?? 'batch';
    const open = openClaim(state, channel);
    switch (step % 8) {
      case 0:
      case 1:
      case 2:
        append(1 + ((step >> 4) & 3));
        break;
      case 3: {
        const claim = planClaim(state, channel, CLAIM_MAX);
        if (claim !== null && open === null) change({ kind: 'claim', ...claim });
        break;
      }
      case 4:
        if (open !== null) change({ kind: 'ack', channel, sequence: open.sequence });
        break;
      case 5:
        if (open !== null) change({ kind: 'release', channel, sequence: open.sequence });
        break;
      case 6:
        if (open !== null) {
          const { sequence } = open;
          change({ kind: 'renumber', channel, sequence, to: sequence + 1 + (step >> 6) });
        }
        break;
      default:
        begin();
    }
  }
  return { lines, state, cursor };
}
