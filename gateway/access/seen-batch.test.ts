// Uses of credentials by example: many requests, one write, nothing lost by a store that is away for a while.
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createSeenBatch, type Seen } from './seen-batch.ts';

const [A, B] = [Buffer.from('aa', 'hex'), Buffer.from('bb', 'hex')];

function setUp() {
  const timers: (() => void)[] = [];
  const written: (readonly Seen[])[] = [];
  const store = { isAway: false };
  const batch = createSeenBatch({
    write: async (seen) => {
      if (store.isAway) throw new Error('away');
      written.push(seen);
    },
    timers: { setTimeout: (run) => timers.push(run), clearTimeout: () => timers.splice(0) },
    logger: silentLogger,
  });
  const tick = async () => {
    for (const run of timers.splice(0)) run();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { batch, timers, written, store, tick };
}

describe('a batch of uses', () => {
  it('should write each credential once, with its last use, and rest when nothing is used', async () => {
    const { batch, timers, written, tick } = setUp();
    for (let atMs = 1; atMs <= 500; atMs += 1) batch.note(A, atMs);
    batch.note(B, 7);
    expect(batch.noted(A)).toBe(500);
    expect(timers).toHaveLength(1);
    await tick();

    expect(written).toEqual([
      [
        { hash: A, atMs: 500 },
        { hash: B, atMs: 7 },
      ],
    ]);
    expect([batch.noted(A), timers.length]).toEqual([null, 0]);
  });

  it('should keep what the store did not take, and write it the next time', async () => {
    const { batch, written, store, tick } = setUp();
    store.isAway = true;
    batch.note(A, 1);
    await tick();
    expect(batch.noted(A)).toBe(1);
    store.isAway = false;
    await tick();

    expect(written).toEqual([[{ hash: A, atMs: 1 }]]);
  });

  it('should write what waits when it is closed', async () => {
    const { batch, written, timers } = setUp();
    batch.note(A, 1);
    await batch.close();

    expect(written).toEqual([[{ hash: A, atMs: 1 }]]);
    expect(timers).toEqual([]);
  });
});
