import { describe, expect, it } from 'vitest';
import { effectsOf, whyNotJson } from './law-values.ts';

describe('what a context may hold', () => {
  it('should take what JSON gives back as it was', () => {
    const context = {
      at: 5,
      name: 'x',
      isOn: true,
      none: null,
      list: [1, { a: [] }],
      left: undefined,
    };
    expect(whyNotJson(context)).toBeNull();
  });

  it('should name what JSON drops or changes, wherever it stands', () => {
    const values: readonly unknown[] = [
      ...[new Date(0), new Map([[1, 2]]), new Set([1]), Buffer.from('a'), new Error('x'), 5n],
      ...[Number.NaN, Number.POSITIVE_INFINITY, () => undefined, Symbol('s')],
    ];
    for (const value of values) {
      expect(whyNotJson({ deep: [{ value }] })).toContain('it.deep[0].value is ');
    }
    expect(whyNotJson([undefined])).toBe('it[0] is a undefined');
  });
});

describe('what is compared of effects', () => {
  it('should tell effects apart that differ in what they were given only', () => {
    const [one, other] = [{ atMs: 1 }, { atMs: 2 }].map((params) =>
      effectsOf([{ type: 'tell', params }]),
    );
    expect(one).not.toStrictEqual(other);
    expect(effectsOf([{ type: 'a', params: new Map([[1, 2]]) }])).not.toStrictEqual(
      effectsOf([{ type: 'a', params: new Map([[1, 3]]) }]),
    );
  });

  it('should name actors and functions, which are others every time', () => {
    const actor = (sessionId: string) => ({ id: 'child', sessionId, send: () => undefined });
    const of = (sessionId: string) =>
      effectsOf([{ type: 'start', params: { ref: actor(sessionId) } }]);
    expect(of('x:1')).toStrictEqual(of('x:2'));
  });
});
