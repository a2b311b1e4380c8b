import { describe, expect, it } from 'vitest';
import { type Move, together } from './time-travel.ts';

const move = (at: string, more: Partial<Move> = {}): Move => ({
  ...{ region: 'a', from: 'x', to: 'y', event: 'e', facts: {}, at },
  ...more,
});

describe('moves of two sources', () => {
  it('should hold a move that came both ways once', () => {
    expect(together([move('2026-01-01T00:00:00Z')], [move('2026-01-01T00:00:00Z')])).toHaveLength(
      1,
    );
  });

  it('should stand with the newest first, and those of one instant as they came', () => {
    const [old, one, two] = [
      move('2026-01-01T00:00:00Z'),
      move('2026-01-01T00:00:01Z', { region: 'b' }),
      move('2026-01-01T00:00:01Z', { region: 'c' }),
    ];
    expect(together([two, one, old], [])).toEqual([two, one, old]);
  });
});
