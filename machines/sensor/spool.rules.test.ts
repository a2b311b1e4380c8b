import { describe, expect, it } from 'vitest';
import { EMPTY_LOSS_LEDGER, settleUndated } from './loss-ledger.rules.ts';
import {
  applyChange,
  applyChanges,
  depth,
  EMPTY_SPOOL,
  heartbeatEventsMax,
  oldestUnclaimed,
  openClaim,
  overflow,
  planClaim,
  type SpoolChange,
  type SpoolState,
} from './spool.rules.ts';

const append = (count: number): SpoolChange => ({ kind: 'append', count });
const drop = (count: number): SpoolChange => ({ kind: 'drop', count });
const claim = (
  from: number,
  to: number,
  sequence = 1,
  channel: 'stream' | 'heartbeat' | 'batch' = 'stream',
): SpoolChange => ({ kind: 'claim', channel, sequence, from, to });
const forget = (from: number, to: number): SpoolChange => ({ kind: 'forget', from, to });
const answer = (kind: 'ack' | 'release', sequence: number): SpoolChange => ({
  kind,
  channel: 'stream',
  sequence,
});
const spool = (...changes: SpoolChange[]): SpoolState => applyChanges(EMPTY_SPOOL, changes);
const held = { channel: 'stream', sequence: 1 } as const;

describe('spool rules: what is held', () => {
  it('should count what is neither acknowledged nor lost', () => {
    expect(depth(EMPTY_SPOOL)).toBe(0);
    expect(depth(spool(append(10)))).toBe(10);
    expect(depth(spool(append(10), forget(3, 5), forget(7, 8)))).toBe(7);
    expect(spool(append(10), append(-5)).tail).toBe(10);
  });

  it('should tell how many are too many', () => {
    expect([9, 10, 11].map((max) => overflow(spool(append(10)), max))).toEqual([1, 0, 0]);
  });

  it('should find the oldest run that nobody has taken', () => {
    expect(oldestUnclaimed(EMPTY_SPOOL)).toBeNull();
    expect(oldestUnclaimed(spool(append(5)))).toEqual({ from: 0, to: 5 });
    expect(oldestUnclaimed(spool(append(9), claim(0, 3)))).toEqual({ from: 3, to: 9 });
    expect(oldestUnclaimed(spool(append(9), claim(4, 6)))).toEqual({ from: 0, to: 4 });
    expect(oldestUnclaimed(spool(append(9), claim(0, 3), forget(3, 9)))).toBeNull();
    expect(oldestUnclaimed(spool(append(9), forget(5, 7), claim(0, 2)))).toEqual({
      from: 2,
      to: 5,
    });
    expect(
      oldestUnclaimed(spool(append(9), forget(2, 4), claim(0, 2), claim(4, 5, 1, 'batch'))),
    ).toEqual({ from: 5, to: 9 });
  });
});

describe('spool rules: claims', () => {
  it('should plan the open claim again, else the oldest that fit', () => {
    const open = spool(append(9), claim(0, 3));
    expect(planClaim(open, 'stream', 1)).toEqual({ ...held, from: 0, to: 3 });
    expect(planClaim(open, 'batch', 4)).toEqual({ channel: 'batch', sequence: 1, from: 3, to: 7 });
    expect(planClaim(open, 'batch', 99)).toMatchObject({ from: 3, to: 9 });
    expect(planClaim(open, 'batch', 2.9)).toMatchObject({ from: 3, to: 5 });
    expect(planClaim(open, 'batch', 1)).toMatchObject({ from: 3, to: 4 });
    expect(planClaim(open, 'batch', 0)).toBeNull();
    expect(planClaim(EMPTY_SPOOL, 'stream', 9)).toBeNull();
  });

  it('should open a claim inside what is held and give its number once', () => {
    const state = spool(append(9), drop(2), claim(0, 20, 7));
    expect(state.claims).toEqual([{ channel: 'stream', sequence: 7, from: 2, to: 9 }]);
    expect(state.next).toEqual({ stream: 8, heartbeat: 1, batch: 1 });
    expect(applyChange(state, claim(3, 4, 5)).next.stream).toBe(8);
    expect(openClaim(state, 'stream')?.sequence).toBe(7);
    expect(openClaim(state, 'batch')).toBeNull();
  });

  it('should keep one claim a channel and none that overlaps or is empty', () => {
    const state = spool(append(9), claim(0, 3), claim(3, 6, 1, 'batch'));
    expect(state.claims).toHaveLength(2);
    expect(applyChange(state, claim(6, 9, 2)).claims.map(({ from }) => from)).toEqual([3, 6]);
    expect(applyChange(state, claim(2, 4, 1, 'heartbeat')).claims).toEqual(state.claims);
    expect(applyChange(state, claim(5, 9, 1, 'heartbeat')).claims).toEqual(state.claims);
    const refused = applyChange(state, claim(5, 9, 2));
    expect(refused.claims.map(({ channel }) => channel)).toEqual(['batch']);
    expect(refused.next.stream).toBe(3);
    const later = spool(append(9), claim(4, 6, 1, 'batch'));
    for (const to of [2, 4]) {
      expect(applyChange(later, claim(0, to)).claims).toHaveLength(2);
    }
    const empty = applyChange(state, claim(9, 12, 4, 'heartbeat'));
    expect([empty.claims, empty.next.heartbeat]).toEqual([state.claims, 5]);
    expect(applyChange(state, claim(7, 7, 4, 'heartbeat')).claims).toEqual(state.claims);
  });

  it('should end exactly the claim that is named', () => {
    const state = spool(append(9), claim(0, 3), claim(3, 6, 1, 'batch'));
    for (const kind of ['ack', 'release'] as const) {
      expect(applyChange(state, answer(kind, 2))).toBe(state);
      expect(applyChange(EMPTY_SPOOL, answer(kind, 1))).toBe(EMPTY_SPOOL);
    }
    const released = applyChange(state, answer('release', 1));
    expect([released.head, released.done, released.claims.length]).toEqual([0, [], 1]);
    const acknowledged = applyChange(state, answer('ack', 1));
    expect([acknowledged.head, acknowledged.done]).toEqual([3, []]);
    expect(acknowledged.claims).toEqual([{ channel: 'batch', sequence: 1, from: 3, to: 6 }]);
  });

  it('should give a claim another number and never give that one again', () => {
    const state = spool(append(9), claim(0, 3), claim(3, 6, 1, 'batch'));
    const renumber = { kind: 'renumber', ...held, to: 12 } as const;
    const renumbered = applyChange(state, renumber);
    expect(renumbered.claims).toEqual([
      { channel: 'stream', sequence: 12, from: 0, to: 3 },
      { channel: 'batch', sequence: 1, from: 3, to: 6 },
    ]);
    expect(renumbered.next).toEqual({ stream: 13, heartbeat: 1, batch: 2 });
    expect(applyChange(state, { ...renumber, sequence: 9 })).toBe(state);
  });

  it('should let a heartbeat take little beside a drain', () => {
    const limits = { usual: 10, drain: 4 };
    expect(heartbeatEventsMax(false, limits)).toBe(10);
    expect(heartbeatEventsMax(true, limits)).toBe(4);
    expect(heartbeatEventsMax(true, { usual: 3, drain: 4 })).toBe(3);
  });
});

describe('spool rules: what goes', () => {
  it('should drop the oldest, counted, and never more than is held', () => {
    const lost = (events: number) => settleUndated(EMPTY_LOSS_LEDGER, { spool_discarded: events });
    expect(spool(append(9), drop(4))).toEqual({
      ...{ ...EMPTY_SPOOL, head: 4, tail: 9, discarded: 4 },
      ledger: lost(4),
    });
    expect(spool(append(9), drop(99))).toEqual({
      ...{ ...EMPTY_SPOOL, head: 9, tail: 9, discarded: 9 },
      ledger: lost(9),
    });
    expect(spool(append(9), drop(-3))).toEqual({ ...EMPTY_SPOOL, tail: 9 });
  });

  it('should drop around what is done', () => {
    const state = spool(append(9), forget(2, 4), forget(6, 7));
    expect(applyChange(state, drop(2))).toMatchObject({ head: 4, discarded: 2 });
    expect(applyChange(state, drop(1))).toMatchObject({ head: 1, done: state.done });
    expect(applyChange(state, drop(3))).toMatchObject({ head: 5, done: [{ from: 6, to: 7 }] });
    expect(applyChange(state, drop(4))).toMatchObject({ head: 7, done: [], discarded: 4 });
    expect(applyChange(state, drop(5))).toMatchObject({ head: 8, done: [], discarded: 5 });
  });

  // The Console may hold the whole batch although its answer was lost; what is left must not go out under its number.
  it('should give the next number to what is left of a claim the cap drops into, in its channel', () => {
    const batch = { channel: 'batch', sequence: 1, from: 4, to: 6 } as const;
    const state = spool(append(9), claim(0, 4), claim(4, 6, 1, 'batch'));
    for (const count of [1, 3]) {
      const left = { ...held, sequence: 2, from: count, to: 4 };
      expect(applyChange(state, drop(count)).claims).toEqual([left, batch]);
    }
    expect(applyChange(state, drop(4)).claims).toEqual([batch]);
    const both = applyChange(state, drop(5));
    expect(both.claims).toEqual([{ ...batch, sequence: 2, from: 5 }]);
    expect(both.next).toMatchObject({ stream: 2, batch: 3 });
    expect(applyChange(state, drop(0)).claims).toEqual(state.claims);
    const dropped = applyChange(state, drop(3));
    expect(planClaim(dropped, 'stream', 9)).toEqual({ ...held, sequence: 2, from: 3, to: 4 });
    for (const kind of ['ack', 'release'] as const) {
      expect(applyChange(dropped, answer(kind, 1))).toBe(dropped);
    }
  });

  it('should close a claim that loses a line to damage, and no other', () => {
    const batch = { channel: 'batch', sequence: 1, from: 5, to: 7 } as const;
    const state = spool(append(9), claim(2, 5), claim(5, 7, 1, 'batch'));
    for (const [from, to] of [
      [2, 3],
      [3, 4],
      [4, 5],
      [0, 5],
    ] as const) {
      expect(applyChange(state, forget(from, to)).claims).toEqual([batch]);
    }
    expect(applyChange(state, forget(4, 6)).claims).toEqual([]);
    for (const [from, to] of [
      [0, 2],
      [7, 9],
      [3, 3],
      [4, 3],
    ] as const) {
      expect(applyChange(state, forget(from, to)).claims).toEqual(state.claims);
    }
    const lost = applyChange(state, forget(3, 4));
    expect(planClaim(lost, 'stream', 9)).toEqual({ ...held, sequence: 2, from: 0, to: 3 });
    expect(applyChange(lost, answer('ack', 1))).toBe(lost);
  });

  it('should merge what is done when it touches or overlaps, in order', () => {
    const done = (...ranges: [number, number][]) =>
      spool(append(20), ...ranges.map(([from, to]) => forget(from, to))).done.map(
        ({ from, to }) => [from, to],
      );
    expect(done([8, 10], [4, 6])).toEqual([
      [4, 6],
      [8, 10],
    ]);
    expect(done([4, 6], [6, 8])).toEqual([[4, 8]]);
    expect(done([4, 9], [5, 7])).toEqual([[4, 9]]);
    expect(done([4, 6], [8, 10], [5, 9])).toEqual([[4, 10]]);
    expect(done([4, 6], [7, 8])).toEqual([
      [4, 6],
      [7, 8],
    ]);
    expect(done([15, 99])).toEqual([[15, 20]]);
    expect(done([7, 7], [9, 8], [25, 30])).toEqual([]);
  });

  it('should move the head over what is done at its edge, and further over what follows', () => {
    const state = spool(append(20), forget(2, 4), forget(6, 8));
    expect(applyChange(state, forget(0, 2))).toMatchObject({ head: 4, done: [{ from: 6, to: 8 }] });
    expect(applyChange(state, forget(0, 6))).toMatchObject({ head: 8, done: [] });
    const moved = applyChange(state, forget(0, 3));
    expect(applyChange(moved, forget(1, 3))).toBe(moved);
  });
});
