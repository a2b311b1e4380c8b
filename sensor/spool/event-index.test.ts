// Where the lines of held events lie: what was released is gone, and what remains is found and counted right.
import { describe, expect, it } from 'vitest';
import { createEventIndex, type EventIndex } from './event-index.ts';

const BYTES = 10;

/** Lines of ten bytes, one behind the other, from this index on. */
function filled(from: number, count: number): EventIndex {
  const index = createEventIndex();
  for (let step = 0; step < count; step += 1) index.set(from + step, step * BYTES, BYTES);
  return index;
}
const held = (index: EventIndex, from: number, to: number) =>
  Array.from({ length: to - from }, (_, step) => from + step).filter(
    (at) => index.get(at) !== null,
  );

describe('the index of events', () => {
  it('should find each line where it was put, and none beside', () => {
    const index = filled(7, 3);
    expect([6, 7, 8, 9, 10].map((at) => index.get(at))).toEqual([
      null,
      { at: 0, bytes: BYTES },
      { at: 10, bytes: BYTES },
      { at: 20, bytes: BYTES },
      null,
    ]);
    expect(index.liveBytes()).toBe(30);
  });

  it('should leave a hole where an index was passed over', () => {
    const index = createEventIndex();
    index.set(3, 100, 11);
    index.set(6, 200, 12);
    expect(held(index, 0, 10)).toEqual([3, 6]);
    expect(index.get(6)).toEqual({ at: 200, bytes: 12 });
    expect(index.liveBytes()).toBe(23);
  });

  it('should count a line that was put twice once, at its last place', () => {
    const index = filled(0, 2);
    index.set(1, 500, 15);
    expect([index.get(1), index.liveBytes()]).toEqual([{ at: 500, bytes: 15 }, 25]);
  });

  it('should take nothing that lies before its first line', () => {
    const index = filled(5, 2);
    index.set(4, 900, 99);
    expect([held(index, 0, 10), index.liveBytes()]).toEqual([[5, 6], 20]);
  });

  it('should forget a range once, however far it reaches', () => {
    const index = filled(5, 6);
    for (let again = 0; again < 2; again += 1) {
      index.release(7, 9);
      expect([held(index, 0, 20), index.liveBytes()]).toEqual([[5, 6, 9, 10], 40]);
    }
    index.release(0, 6);
    index.release(10, 400);
    expect([held(index, 0, 20), index.liveBytes()]).toEqual([[6, 9], 20]);
  });

  it('should keep what lies between head and tail, and go on behind the tail', () => {
    const index = filled(5, 6);
    index.trim(7, 10);
    expect([held(index, 0, 20), index.liveBytes()]).toEqual([[7, 8, 9], 30]);
    index.set(10, 700, 17);
    expect([held(index, 0, 20), index.get(10), index.liveBytes()]).toEqual([
      [7, 8, 9, 10],
      { at: 700, bytes: 17 },
      47,
    ]);
  });

  it('should begin anew at any index when nothing is left', () => {
    const index = filled(5, 6);
    index.trim(11, 11);
    expect([held(index, 0, 20), index.liveBytes()]).toEqual([[], 0]);
    index.set(3, 40, 4);
    expect([held(index, 0, 20), index.get(3)]).toEqual([[3], { at: 40, bytes: 4 }]);
  });

  it('should find every line after thousands before it went', () => {
    const index = filled(0, 10_000);
    index.trim(9_990, 10_000);
    expect([held(index, 0, 10_010), index.liveBytes()]).toEqual([
      Array.from({ length: 10 }, (_, step) => 9_990 + step),
      100,
    ]);
    expect(index.get(9_990)).toEqual({ at: 99_900, bytes: BYTES });
  });

  it('should be empty when its tail lies before its first line', () => {
    const index = filled(5, 3);
    index.trim(2, 2);
    expect([held(index, 0, 20), index.liveBytes()]).toEqual([[], 0]);
  });
});
