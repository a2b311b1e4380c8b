// A diff always holds both texts, whole and in their order, and says nothing of what is the same.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, diffPolicies } from '../../machines/policy/diff.rules.ts';

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  .map((all) => all.join('\n'));
const side = (lines: ReturnType<typeof diffLines>, sign: '-' | '+') =>
  lines
    .filter((one) => one.sign === ' ' || one.sign === sign)
    .map((one) => one.text)
    .join('\n');

describe('a diff', () => {
  it('always gives both texts back, and no change for the same', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        expect(side(lines, '-')).toBe(before);
        expect(side(lines, '+')).toBe(after);
        expect(diffLines(before, before).every(({ sign }) => sign === ' ')).toBe(true);
      }),
    );
  });

  it('always names every policy that is not the same, once', () => {
    const policies = fc.uniqueArray(
      fc.record({ name: fc.constantFrom('x', 'y', 'z'), yaml: text }),
      {
        selector: ({ name }) => name,
      },
    );
    fc.assert(
      fc.property(policies, policies, (before, after) => {
        const yamlOf = (all: typeof before, name: string) =>
          all.find((one) => one.name === name)?.yaml;
        const other = ['x', 'y', 'z'].filter(
          (name) => yamlOf(before, name) !== yamlOf(after, name),
        );
        expect(diffPolicies(before, after).map(({ name }) => name)).toEqual(other);
      }),
    );
  });
});
