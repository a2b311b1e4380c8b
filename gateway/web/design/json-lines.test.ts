import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linesBetween } from './json-lines.ts';

const textOf = (value: unknown) => JSON.stringify(value, null, 2) ?? 'null';

describe('the difference of two values', () => {
  it('should mark what came and what went', () => {
    const told = linesBetween({ a: 1, b: 2 }, { a: 1, b: 3 }).map(({ is, text }) => [is, text]);
    expect(told).toEqual([
      ['same', '{'],
      ['same', '  "a": 1,'],
      ['removed', '  "b": 2'],
      ['added', '  "b": 3'],
      ['same', '}'],
    ]);
  });

  it('should always hold both values whole, and nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
        const lines = linesBetween(before, after);
        const without = (gone: string) =>
          lines
            .filter(({ is }) => is !== gone)
            .map(({ text }) => text)
            .join('\n');
        expect(without('removed')).toBe(textOf(after));
        expect(without('added')).toBe(textOf(before));
      }),
    );
  });

  it('should call a value equal to itself unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(linesBetween(value, value).every(({ is }) => is === 'same')).toBe(true);
      }),
    );
  });
});
