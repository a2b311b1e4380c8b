// The arithmetic of the spool. Events are named by local indices that only rise; what is held is [head, tail) without
// the `done` ranges. The journal stores changes and recovery applies them again, so this file is both the plan and the
// replay. Every function is total: a change that does not fit leaves the state as it is. invariant: I5, I6; decision: D6, D13
import type { Channel } from '../wire/scalars.ts';
import {
  confirmTold,
  EMPTY_LOSS_LEDGER,
  type Losses,
  type LossLedger,
  type Settled,
  type SettledHour,
  settle,
  settleUndated,
} from './loss-ledger.rules.ts';

/** Indices from `from` up to, not including, `to`. */
export type IndexRange = { readonly from: number; readonly to: number };
/**
 * A numbered batch; it keeps number and content until it is acknowledged. What is left of one that the cap cut into goes
 * on in its channel under the next number, since the Console may hold the whole of it; one that damage hit is closed.
 */
export type SpoolClaim = IndexRange & { readonly channel: Channel; readonly sequence: number };

export type SpoolState = {
  readonly head: number;
  readonly tail: number;
  /** Acknowledged or lost ranges above `head`: sorted, disjoint, never touching each other or `head`. */
  readonly done: readonly IndexRange[];
  /** At most one a channel. */
  readonly claims: readonly SpoolClaim[];
  /** The number each channel's next batch gets; a number once given is never given again. */
  readonly next: Readonly<Record<Channel, number>>;
  /** Events the cap dropped, ever. */
  readonly discarded: number;
  /** What became of all events that are held no more, and of those that never came. invariant: I19 */
  readonly ledger: LossLedger;
};

/** The hour in which a change settles events; absent in journals of before there was a ledger. */
type InHour = { readonly hour?: number | undefined };
export type SpoolChange =
  | { readonly kind: 'append'; readonly count: number }
  | ({ readonly kind: 'drop'; readonly count: number } & InHour)
  /** Events that were lost before they could be appended. */
  | ({ readonly kind: 'lose'; readonly lost: Losses } & InHour)
  | ({ readonly kind: 'claim' } & SpoolClaim)
  | ({
      readonly kind: 'ack';
      readonly channel: Channel;
      readonly sequence: number;
      /** Of the batch's events those that could not be read any more, so they were not sent. */
      readonly unread?: number | undefined;
      /** The Console will never take them. */
      readonly isRefused?: boolean | undefined;
    } & InHour)
  | { readonly kind: 'release'; readonly channel: Channel; readonly sequence: number }
  | {
      readonly kind: 'renumber';
      readonly channel: Channel;
      readonly sequence: number;
      readonly to: number;
    }
  | ({ readonly kind: 'forget' } & IndexRange)
  /** Hours of the ledger that the Console has. */
  | { readonly kind: 'told'; readonly hours: readonly SettledHour[] };

export const EMPTY_SPOOL: SpoolState = {
  head: 0,
  tail: 0,
  done: [],
  claims: [],
  next: { stream: 1, heartbeat: 1, batch: 1 },
  discarded: 0,
  ledger: EMPTY_LOSS_LEDGER,
};

/** Events held and not acknowledged. */
export function depth(state: SpoolState): number {
  return (
    state.tail - state.head - state.done.reduce((sum, range) => sum + range.to - range.from, 0)
  );
}

/** How many of the oldest must go so that at most `max` are held. */
export function overflow(state: SpoolState, max: number): number {
  return Math.max(0, depth(state) - max);
}

/** The claim a channel has open. */
export function openClaim(state: SpoolState, channel: Channel): SpoolClaim | null {
  return state.claims.find((claim) => claim.channel === channel) ?? null;
}

/** The oldest run of events that are neither claimed nor done. */
export function oldestUnclaimed(state: SpoolState): IndexRange | null {
  let from = state.head;
  for (const taken of takenRanges(state)) {
    if (taken.from > from) return { from, to: taken.from };
    from = Math.max(from, taken.to);
  }
  return from < state.tail ? { from, to: state.tail } : null;
}

/** The claim a channel would make now: its open one, else the oldest unclaimed events; null when there are none. */
export function planClaim(
  state: SpoolState,
  channel: Channel,
  eventsMax: number,
): SpoolClaim | null {
  const open = openClaim(state, channel);
  if (open !== null) return open;
  const run = oldestUnclaimed(state);
  if (run === null || eventsMax < 1) return null;
  const to = Math.min(run.to, run.from + Math.floor(eventsMax));
  return { channel, sequence: state.next[channel], from: run.from, to };
}

/** How many events a heartbeat may take: few after a failed one, because the drain goes on beside it. */
export function heartbeatEventsMax(
  hasFailedBefore: boolean,
  limits: { readonly usual: number; readonly drain: number },
): number {
  return hasFailedBefore ? Math.min(limits.drain, limits.usual) : limits.usual;
}

/** Applies one change; the same function plans and replays. */
export function applyChange(state: SpoolState, change: SpoolChange): SpoolState {
  switch (change.kind) {
    case 'append':
      return { ...state, tail: state.tail + Math.max(0, change.count) };
    case 'drop':
      return settleGone(state, dropOldest(state, change.count), change);
    case 'lose':
      return { ...state, ledger: settleIn(state.ledger, change, change.lost) };
    case 'claim':
      return openClaimOf(state, change);
    case 'ack': {
      const claim = findClaim(state, change);
      return claim === null
        ? state
        : settleGone(state, markDone(closeClaim(state, claim), claim), change);
    }
    case 'release': {
      const claim = findClaim(state, change);
      return claim === null ? state : closeClaim(state, claim);
    }
    case 'renumber':
      return renumber(state, change);
    case 'forget':
      return settleGone(state, markDone(state, change), change);
    case 'told':
      return { ...state, ledger: confirmTold(state.ledger, change.hours) };
  }
}

/** Applies changes in order. */
export function applyChanges(state: SpoolState, changes: readonly SpoolChange[]): SpoolState {
  return changes.reduce(applyChange, state);
}

// What is held no more was seen, refused, or lost by the spool itself.
function settleGone(
  before: SpoolState,
  after: SpoolState,
  change: Extract<SpoolChange, { kind: 'ack' | 'drop' | 'forget' }>,
): SpoolState {
  if (after === before) return before;
  const gone = depth(before) - depth(after);
  if (change.kind !== 'ack') {
    const hour = change.kind === 'drop' ? change.hour : undefined;
    return { ...after, ledger: settleIn(before.ledger, { hour }, { spool_discarded: gone }) };
  }
  const unread = Math.min(gone, Math.max(0, change.unread ?? 0));
  const sent = change.isRefused === true ? 'console_refused' : 'seen';
  const counts = { [sent]: gone - unread, spool_discarded: unread };
  return { ...after, ledger: settleIn(before.ledger, change, counts) };
}

function settleIn(ledger: LossLedger, { hour }: InHour, counts: Partial<Settled>): LossLedger {
  return hour === undefined ? settleUndated(ledger, counts) : settle(ledger, hour, counts);
}

function takenRanges(state: SpoolState): readonly IndexRange[] {
  return [...state.done, ...state.claims].sort((a, b) => a.from - b.from);
}

function findClaim(
  state: SpoolState,
  name: { readonly channel: Channel; readonly sequence: number },
): SpoolClaim | null {
  const claim = openClaim(state, name.channel);
  return claim !== null && claim.sequence === name.sequence ? claim : null;
}

function closeClaim(state: SpoolState, claim: SpoolClaim): SpoolState {
  return { ...state, claims: state.claims.filter((other) => other !== claim) };
}

function openClaimOf(state: SpoolState, claim: SpoolClaim): SpoolState {
  const from = Math.max(claim.from, state.head);
  const to = Math.min(claim.to, state.tail);
  const next = withNext(state, claim.channel, claim.sequence + 1);
  const others = state.claims.filter((other) => other.channel !== claim.channel);
  if (from >= to || others.some((other) => other.from < to && from < other.to)) {
    return { ...state, claims: others, next };
  }
  const { channel, sequence } = claim;
  return { ...state, claims: [...others, { channel, sequence, from, to }], next };
}

function renumber(state: SpoolState, change: SpoolChange & { kind: 'renumber' }): SpoolState {
  const claim = findClaim(state, change);
  if (claim === null) return state;
  const claims = state.claims.map((other) =>
    other === claim ? { ...claim, sequence: change.to } : other,
  );
  return { ...state, claims, next: withNext(state, change.channel, change.to + 1) };
}

function withNext(state: SpoolState, channel: Channel, atLeast: number): SpoolState['next'] {
  return { ...state.next, [channel]: Math.max(state.next[channel], atLeast) };
}

function dropOldest(state: SpoolState, count: number): SpoolState {
  const dropped = Math.min(Math.max(0, count), depth(state));
  let head = state.head;
  let left = dropped;
  for (const range of state.done) {
    const before = Math.min(left, range.from - head);
    head += before;
    left -= before;
    if (left === 0) break;
    head = range.to;
  }
  return advanceHead({ ...state, discarded: state.discarded + dropped }, head + left);
}

// Marks what is held of a range as done; a claim that loses an event to it is closed.
function markDone(state: SpoolState, range: IndexRange): SpoolState {
  const from = Math.max(range.from, state.head);
  const to = Math.min(range.to, state.tail);
  if (from >= to) return state;
  const merged: IndexRange[] = [];
  const sorted = [...state.done, { from, to }].sort((a, b) => a.from - b.from);
  for (const next of sorted) {
    const last = merged.at(-1);
    if (last === undefined || next.from > last.to) merged.push(next);
    else merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, next.to) };
  }
  const claims = state.claims.filter((claim) => claim.to <= from || to <= claim.from);
  return advanceHead({ ...state, done: merged, claims }, state.head);
}

// Moves the head, over done ranges it reaches; ranges below it are cut, and a claim it cuts into gets the next number.
function advanceHead(state: SpoolState, to: number): SpoolState {
  let head = to;
  for (const range of state.done) if (range.from <= head) head = Math.max(head, range.to);
  const done = state.done
    .filter((range) => range.to > head)
    .map((range) => (range.from < head ? { ...range, from: head } : range));
  let { next } = state;
  const claims = state.claims
    .filter((claim) => claim.to > head)
    .map((claim) => {
      if (claim.from >= head) return claim;
      const sequence = next[claim.channel];
      next = { ...next, [claim.channel]: sequence + 1 };
      return { ...claim, from: head, sequence };
    });
  return { ...state, head, done, claims, next };
}
