import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCondition } from '../../../machines/detection/condition-parser.ts';
import {
  faultIn,
  fieldIs,
  partsOf,
  suggestionsFor,
  withoutPart,
  withPart,
  withTurned,
} from './condition-parts.ts';

describe('the chips of a condition', () => {
  it('should be the parts that must all be true', () => {
    const parts = partsOf('binary:/bin/sh and (pid:1 or pid:2) not severity:info');
    expect(parts.map(({ isNot }) => isNot)).toEqual([false, false, true]);
    expect(parts[1]?.text).toBe('process.pid:1 or process.pid:2');
    expect(partsOf('pid:1 or pid:2')).toHaveLength(1);
    expect(partsOf('binary:(')).toEqual([]);
    expect(partsOf(undefined)).toEqual([]);
  });

  it('should be added once, turned round and taken away', () => {
    const one = withPart(undefined, fieldIs('process.binary', '/bin/sh'));
    const two = withPart(one, 'pid:1 or pid:2');
    expect(two).toBe('process.binary:/bin/sh and (process.pid:1 or process.pid:2)');
    expect(withPart(two, fieldIs('process.binary', '/bin/sh'))).toBe(two);
    expect(withTurned(two, 1)).toBe(
      'process.binary:/bin/sh and not (process.pid:1 or process.pid:2)',
    );
    expect(withTurned(withTurned(two, 1), 1)).toBe(two);
    expect(withoutPart(two, 0)).toBe('process.pid:1 or process.pid:2');
    expect(withoutPart(withoutPart(two, 0), 0)).toBe('');
  });

  it('should always read back as what was chosen, whatever a stored value holds', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60 }), fc.boolean(), (value, isNot) => {
        const text = fieldIs('process.arguments', value, isNot);
        const read = parseCondition(text);
        const leaf = { is: 'among', field: 'process.arguments', values: [value] };
        expect(read).toEqual({ ok: true, condition: isNot ? { is: 'not', of: leaf } : leaf });
        expect(partsOf(text)).toHaveLength(1);
      }),
    );
  });
});

describe('what a query bar says', () => {
  it('should name the character that cannot be read, and nothing where all is well', () => {
    expect(faultIn('binary:/bin/sh')).toBeNull();
    expect(faultIn('  ')).toBeNull();
    expect(faultIn('nofield:1')?.at).toBe(1);
  });

  it('should suggest fields by any of their names, and the words that one can hold', () => {
    expect(suggestionsFor('pid:1 and bin')[0]).toMatchObject({
      ...{ name: 'binary', value: 'pid:1 and binary:' },
    });
    expect(suggestionsFor('severity:').map(({ name }) => name)).toContain('critical');
    expect(suggestionsFor('severity:cr')).toEqual([
      { name: 'critical', value: 'severity:critical', about: '' },
    ]);
    expect(suggestionsFor('')).toEqual([]);
    expect(suggestionsFor('nobody:')).toEqual([]);
  });
});
