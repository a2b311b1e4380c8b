// When a group goes out, told by a clock of the test. decision: D5
import { describe, expect, it } from 'vitest';
import { createGroupCommit } from './group-commit.ts';

const INTERVAL_MS = 250;

/** A group commit over a clock that is moved by hand; `written` tells every write and when it began. */
function setUp(rowsMax = 10) {
  let nowMs = 0;
  const due: { run: () => void; atMs: number }[] = [];
  const written: { readonly atMs: number; readonly items: readonly string[] }[] = [];
  const ends: (() => void)[] = [];
  const group = createGroupCommit<string>({
    timers: {
      now: () => nowMs,
      setTimeout(run, delayMs) {
        const timer = { run, atMs: nowMs + delayMs };
        due.push(timer);
        return timer;
      },
      clearTimeout(timer) {
        const at = due.indexOf(timer as (typeof due)[number]);
        if (at >= 0) due.splice(at, 1);
      },
    },
    intervalMs: INTERVAL_MS,
    rowsMax,
    queueRowsMax: 100,
    commit(items) {
      written.push({ atMs: nowMs, items });
      return new Promise((resolve) => ends.push(() => resolve(items.map(() => true))));
    },
  });
  return {
    group,
    written,
    armed: () => due.length,
    async endWrite() {
      ends.shift()?.();
      await new Promise(setImmediate);
    },
    advance(ms: number) {
      nowMs += ms;
      for (const timer of due.filter(({ atMs }) => atMs <= nowMs)) {
        due.splice(due.indexOf(timer), 1);
        timer.run();
      }
    },
  };
}

describe('group commit, the time of a write', () => {
  it('should write at once what comes after a rest', async () => {
    const at = setUp();
    void at.group.offer('a', 1);
    expect(at.written).toEqual([{ atMs: 0, items: ['a'] }]);
    await at.endWrite();
    at.advance(INTERVAL_MS);
    expect(at.armed()).toBe(0);
    at.advance(INTERVAL_MS);
    void at.group.offer('b', 1);
    expect(at.written[1]).toEqual({ atMs: 2 * INTERVAL_MS, items: ['b'] });
  });

  it('should write together what comes within an interval of the last write', async () => {
    const at = setUp();
    void at.group.offer('a', 1);
    await at.endWrite();
    at.advance(100);
    void at.group.offer('b', 1);
    at.advance(100);
    void at.group.offer('c', 1);
    expect(at.written).toHaveLength(1);
    at.advance(50);
    expect(at.written[1]).toEqual({ atMs: INTERVAL_MS, items: ['b', 'c'] });
  });

  it('should begin the next write at the end of one that was longer than the interval', async () => {
    const at = setUp();
    void at.group.offer('a', 1);
    at.advance(100);
    void at.group.offer('b', 1);
    at.advance(200);
    expect(at.written).toHaveLength(1);
    await at.endWrite();
    expect(at.written[1]).toEqual({ atMs: 300, items: ['b'] });
  });

  it('should not wait once the group is full', async () => {
    const at = setUp(2);
    void at.group.offer('a', 1);
    await at.endWrite();
    void at.group.offer('b', 1);
    void at.group.offer('c', 1);
    expect(at.written[1]).toEqual({ atMs: 0, items: ['b', 'c'] });
  });

  it('should leave no timer behind when it is closed', async () => {
    const at = setUp();
    void at.group.offer('a', 1);
    const closed = at.group.close();
    await at.endWrite();
    await closed;
    expect(at.armed()).toBe(0);
  });
});
