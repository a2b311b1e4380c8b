import { describe, expect, it } from 'vitest';
import type { EventItem } from '../api/contract.ts';
import { collected, TAIL_MAX } from './tail.ts';

const eventOf = (n: number) => ({ event_id: String(n) }) as EventItem;

describe('the live tail', () => {
  it('should put the newest first and hold no more than its bound', () => {
    let state: Parameters<typeof collected>[0] = { shown: [], waiting: [], dropped: 0 };
    for (let n = 0; n < 3 * TAIL_MAX; n += 2) {
      state = collected(state, [eventOf(n), eventOf(n + 1)], 0);
    }
    expect(state.waiting).toHaveLength(TAIL_MAX);
    expect(state.waiting[0]?.event_id).toBe(String(3 * TAIL_MAX - 1));
    expect(state.dropped).toBe(2 * TAIL_MAX);
  });

  it('should count what the Console left out', () => {
    const state = collected({ shown: [], waiting: [], dropped: 1 }, [eventOf(1)], 7);
    expect(state.dropped).toBe(8);
  });
});
