// Replays a journal line by line. What is kept: every append whose seal is on the disk. An append that a crash cut (no
// seal, or a seal that arrived before its events) is given up together with its cursor, so its events are read again;
// it can only be the last one, because nothing is written after it. A line in the middle that cannot be read is
// counted, and its neighbours stay. invariant: I5; decision: D13
import {
  applyChange,
  applyChanges,
  EMPTY_SPOOL,
  type SpoolState,
} from '../../machines/sensor/spool.rules.ts';
import { createEventIndex, type EventIndex } from './event-index.ts';
import { decodeLine, type JournalHeader, type JournalSeal, sealChanges } from './journal.ts';

export type RecoveredJournal = {
  /** Null when the first line is lost: a new stream begins and the file must be rewritten. */
  readonly streamId: string | null;
  readonly spool: SpoolState;
  readonly cursor: unknown;
  readonly damaged: number;
  /** Bytes of the file that count; the rest is cut off. */
  readonly length: number;
  readonly index: EventIndex;
};

type Place = { readonly index: number; readonly at: number; readonly bytes: number };
type Facts = Pick<RecoveredJournal, 'spool' | 'cursor' | 'damaged' | 'length'>;

/** Takes the lines in file order (`at` and `bytes` include the newline); `finish` judges the tail. */
export function createReplay() {
  const index = createEventIndex();
  let facts: Facts = { spool: EMPTY_SPOOL, cursor: null, damaged: 0, length: 0 };
  let header: JournalHeader | null = null;
  let hasBegun = false;
  let unsealed: Place[] = [];
  let damagedSince = 0;
  let beforeHollowSeal: Facts | null = null;

  function line(text: Buffer, at: number, bytes: number): void {
    const decoded = decodeLine(text);
    switch (decoded.kind) {
      case 'damaged':
        damagedSince += 1;
        return;
      case 'header':
        if (at !== 0) return;
        header = decoded.header;
        facts = { ...facts, ...decoded.header, spool: decoded.header.state };
        break;
      case 'event':
        if (header !== null && decoded.index < header.state.tail) {
          // What the header counts stands before everything later; a line of it elsewhere was never written there.
          if (facts.spool !== header.state) damagedSince += 1;
          else {
            index.set(decoded.index, at, bytes);
            settle(at + bytes);
          }
        } else unsealed.push({ index: decoded.index, at, bytes });
        return;
      case 'seal':
        takeSeal(decoded.seal);
        break;
      case 'change':
        beforeHollowSeal = null;
        absorb(unsealed, lastIndex(unsealed) + 1);
        facts = { ...facts, spool: applyChange(facts.spool, decoded.change) };
        break;
    }
    settle(at + bytes);
    hasBegun = true;
  }

  // What stands before `length` is judged; damage before it is counted.
  function settle(length: number): void {
    facts = { ...facts, damaged: facts.damaged + damagedSince, length };
    damagedSince = 0;
  }

  function takeSeal(seal: JournalSeal): void {
    const present = unsealed.filter((place) => place.index >= seal.from).length;
    beforeHollowSeal = present === seal.to - seal.from ? null : facts;
    absorb(unsealed, seal.to, seal.from);
    facts = { ...facts, spool: applyChanges(facts.spool, sealChanges(seal)), cursor: seal.cursor };
  }

  function absorb(places: readonly Place[], to: number, from = to): void {
    unsealed = [];
    let { spool } = facts;
    if (!hasBegun && header === null)
      spool = { ...spool, ...startAt(Math.min(places[0]?.index ?? from, from)) };
    facts = { ...facts, spool: withEvents(spool, { places, to, index }) };
    hasBegun = true;
  }

  function finish(): RecoveredJournal {
    if (beforeHollowSeal !== null) facts = beforeHollowSeal;
    else if (header === null && unsealed.length > 0) absorbHeaderless();
    index.trim(facts.spool.head, facts.spool.tail);
    for (const range of facts.spool.done) index.release(range.from, range.to);
    return { ...forgetLost(facts, index), streamId: header?.streamId ?? null, index };
  }

  // Without its first line a compacted file has no seal of its own; it was whole when it was put in place.
  function absorbHeaderless(): void {
    const end = unsealed.at(-1);
    absorb(unsealed, lastIndex(unsealed) + 1);
    facts = { ...facts, damaged: facts.damaged + damagedSince };
    if (end !== undefined) facts = { ...facts, length: end.at + end.bytes };
  }

  return { line, finish };
}

// Adds events up to `to`; an index without a line is lost and forgotten, so the later ones keep their names.
function withEvents(
  before: SpoolState,
  { places, to, index }: { places: readonly Place[]; to: number; index: EventIndex },
): SpoolState {
  let spool = before;
  for (const place of places) {
    if (place.index < spool.tail) continue;
    spool = applyChange(withHole(spool, place.index), { kind: 'append', count: 1 });
    index.set(place.index, place.at, place.bytes);
  }
  return withHole(spool, to);
}

function startAt(index: number): Pick<SpoolState, 'head' | 'tail'> {
  return { head: index, tail: index };
}

function lastIndex(places: readonly Place[]): number {
  return places.at(-1)?.index ?? -1;
}

// What a later line says was meant with the lost events still counted: a drop of the oldest four would otherwise reach
// an event that was never dropped. They are forgotten at the end.
function withHole(spool: SpoolState, to: number): SpoolState {
  return applyChange(spool, { kind: 'append', count: to - spool.tail });
}

// Events that are held by count but have no line: damaged ones.
function forgetLost(facts: Facts, index: EventIndex): Facts {
  let { spool } = facts;
  const { head, tail, done } = facts.spool;
  const isLost = (at: number) =>
    index.get(at) === null && !done.some((range) => range.from <= at && at < range.to);
  for (let from = head; from < tail; from += 1) {
    let to = from;
    while (to < tail && isLost(to)) to += 1;
    if (to === from) continue;
    spool = applyChange(spool, { kind: 'forget', from, to });
    from = to;
  }
  return { ...facts, spool };
}
