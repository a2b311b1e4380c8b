import { describe, expect, it } from 'vitest';
import type { EventItem } from '../api/contract.ts';
import { TAIL_MAX, TAIL_OFF, type Tail, tailAfter } from './tail.ts';

const eventOf = (n: number) => ({ event_id: String(n) }) as EventItem;
const came = (...ns: number[]) => ({ type: 'came', items: ns.map(eventOf), dropped: 0 }) as const;
const ids = (items: Tail['shown']) => items.map(({ event_id }) => event_id);

describe('the live tail', () => {
  it('should put the newest on top while it follows, and forget the oldest beyond its bound', () => {
    let tail = tailAfter(TAIL_OFF, { type: 'turned' });
    for (let n = 0; n < 3 * TAIL_MAX; n += 2) tail = tailAfter(tail, came(n, n + 1));
    expect(tail.shown).toHaveLength(TAIL_MAX);
    expect(tail.shown[0]?.event_id).toBe(String(3 * TAIL_MAX - 1));
    expect([tail.waiting.length, tail.dropped]).toEqual([0, 0]);
  });

  it('should collect while it is paused, bounded and counted, and show all of it then', () => {
    let tail = tailAfter(tailAfter(TAIL_OFF, { type: 'turned' }), came(1));
    tail = tailAfter(tailAfter(tail, { type: 'paused' }), came(2, 3));
    expect([ids(tail.shown), ids(tail.waiting)]).toEqual([['1'], ['3', '2']]);
    tail = tailAfter(tail, { type: 'resumed' });
    expect([tail.is, ids(tail.shown), tail.waiting.length]).toEqual([
      'following',
      ['3', '2', '1'],
      0,
    ]);
    tail = tailAfter(tail, { type: 'paused' });
    for (let n = 0; n < TAIL_MAX + 7; n += 1) tail = tailAfter(tail, came(n));
    expect([tail.waiting.length, tail.dropped]).toEqual([TAIL_MAX, 7]);
  });

  it('should count what the Console left out, and hear nothing while it is off', () => {
    const on = tailAfter(TAIL_OFF, { type: 'turned' });
    expect(tailAfter(on, { ...came(1), dropped: 7 }).dropped).toBe(7);
    expect(tailAfter(TAIL_OFF, came(1))).toBe(TAIL_OFF);
    expect(tailAfter(TAIL_OFF, { type: 'paused' }).is).toBe('off');
  });

  it('should say that it is heard once the Console has answered, though nothing came', () => {
    const on = tailAfter(TAIL_OFF, { type: 'turned' });
    const heard = tailAfter(on, came());
    expect([on.isHeard, heard.isHeard]).toEqual([false, true]);
    expect(tailAfter(heard, came())).toBe(heard);
    expect(tailAfter(heard, { type: 'turned' }).isHeard).toBe(false);
  });

  it('should begin anew with another filter', () => {
    const tail = tailAfter(tailAfter(TAIL_OFF, { type: 'turned' }), came(1));
    expect(tailAfter(tail, { type: 'cleared' })).toEqual({ ...TAIL_OFF, is: 'following' });
  });
});
