import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listIn, parseSearch, present, stringifySearch, textIn } from './search-params.ts';

describe('the query of an address', () => {
  it('should come back as it was written, whatever the text', () => {
    const values = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.array(fc.string({ minLength: 1 }), { minLength: 2 }),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), values), (search) => {
        expect({ ...parseSearch(stringifySearch(search)) }).toEqual({ ...search });
      }),
    );
  });

  it('should leave out what is empty', () => {
    expect(stringifySearch({ a: '', b: undefined, c: null, d: [] })).toBe('');
    expect(present({ a: 1, b: undefined })).toEqual({ a: 1 });
  });

  it('should keep only known words of a list', () => {
    expect(listIn(['b', '<script>', 'a'], ['a', 'b'])).toEqual(['a', 'b']);
    expect(listIn('nothing', ['a'])).toBeUndefined();
    expect([textIn(['x', 'y']), textIn(''), textIn(undefined)]).toEqual([
      'x',
      undefined,
      undefined,
    ]);
  });
});
