import { describe, expect, it } from 'vitest';
import { createPolicyCounts } from './policy-counts.ts';

describe('policy counts', () => {
  it('should go on over a counter that fell and over an engine that ended', () => {
    const counts = createPolicyCounts();
    expect(counts.put('a', { signals: 3, matched: 9 })).toEqual({ signals: 3, matched: 9 });
    expect(counts.put('a', { signals: 5 })).toEqual({ signals: 5, matched: 9 });
    expect(counts.put('a', { signals: 1 })).toEqual({ signals: 6, matched: 9 });
    counts.beginAgain();
    expect(counts.of('a')).toEqual({ signals: 6, matched: 9 });
    expect(counts.put('a', { signals: 7, matched: 9 })).toEqual({ signals: 13, matched: 18 });
    expect(counts.put('b', { signals: 1 })).toEqual({ signals: 1 });
  });

  it('should forget a policy that is gone', () => {
    const counts = createPolicyCounts();
    counts.put('a', { signals: 3 });
    counts.keep(new Set(['b']));
    expect(counts.of('a')).toEqual({});
  });
});
