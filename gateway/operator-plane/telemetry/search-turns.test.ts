// Turns at the event store, by example.
import { describe, expect, it } from 'vitest';
import {
  SEARCHES_AT_ONCE_MAX,
  SEARCHES_OF_ONE_MAX,
  SEARCHES_WAITING_OF_ONE_MAX,
} from '../../../machines/limits.ts';
import { RefusedSearch } from '../plumbing/problem-reply.ts';
import { createSearchTurns } from './search-turns.ts';

const NEVER = new AbortController().signal;

function world() {
  const turns = createSearchTurns();
  const asked: string[] = [];
  const ends: (() => void)[] = [];
  const run = (caller: string, signal: AbortSignal = NEVER) =>
    turns.run(caller, signal, () => {
      asked.push(caller);
      return new Promise<string>((resolve) => ends.push(() => resolve(caller)));
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const endOne = async () => {
    ends.shift()?.();
    await settle();
  };
  return { turns, asked, run, endOne, settle };
}

describe('search turns', () => {
  it('should let one caller ask a few at once, and serve others before its next', async () => {
    const { asked, run, endOne, settle } = world();
    const all = Array.from({ length: 10 }, () => run('greedy'));
    await settle();
    expect(asked).toEqual(Array.from({ length: SEARCHES_OF_ONE_MAX }, () => 'greedy'));
    const modest = run('modest');
    await settle();
    expect(asked.at(-1)).toBe('modest');
    for (let i = 0; i < 11; i += 1) await endOne();
    expect(await Promise.all([...all, modest])).toHaveLength(11);
  });

  it('should run no more at once than may, and take callers in turn', async () => {
    const { turns, asked, run, endOne, settle } = world();
    const callers = ['a', 'b', 'c', 'd'];
    for (const caller of callers) for (let i = 0; i < 5; i += 1) void run(caller);
    await settle();
    expect(turns.running()).toBe(SEARCHES_AT_ONCE_MAX);
    for (let i = 0; i < 20; i += 1) {
      await endOne();
      expect(turns.running()).toBeLessThanOrEqual(SEARCHES_AT_ONCE_MAX);
    }
    expect(asked.slice(SEARCHES_AT_ONCE_MAX, SEARCHES_AT_ONCE_MAX + 4)).toContain('d');
    expect(turns.running()).toBe(0);
    for (const caller of callers) expect(asked.filter((one) => one === caller)).toHaveLength(5);
  });

  it('should refuse a caller who has too many waiting', async () => {
    const { run, settle } = world();
    for (let i = 0; i < SEARCHES_OF_ONE_MAX + SEARCHES_WAITING_OF_ONE_MAX; i += 1) void run('a');
    await settle();
    await expect(run('a')).rejects.toThrow(RefusedSearch);
  });

  it('should forget a question whose caller has gone, whether it waits or not', async () => {
    const { turns, asked, run, endOne, settle } = world();
    for (let i = 0; i < SEARCHES_OF_ONE_MAX; i += 1) void run('a');
    const gone = new AbortController();
    const waiting = run('a', gone.signal);
    const failed = expect(waiting).rejects.toThrow('left');
    await settle();
    gone.abort(new Error('left'));
    await failed;
    await expect(run('a', gone.signal)).rejects.toThrow('left');
    for (let i = 0; i < SEARCHES_OF_ONE_MAX; i += 1) await endOne();
    expect(asked).toHaveLength(SEARCHES_OF_ONE_MAX);
    expect(turns.running()).toBe(0);
  });

  it('should give the turn back when a question fails', async () => {
    const { turns } = world();
    const failing = turns.run('a', NEVER, () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(turns.running()).toBe(0);
  });
});
