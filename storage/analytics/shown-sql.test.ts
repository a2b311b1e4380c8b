// Whatever is put into a statement stays a literal.
import { describe, expect, it } from 'vitest';
import { shownSql } from './shown-sql.ts';

describe('a shown statement', () => {
  it('should hold its parameters as literals', () => {
    const sql = 'SELECT {a: String}, {n: Int64} WHERE x IN {list: Array(String)}';
    expect(shownSql(sql, { a: "it's", n: 5, list: ['b', '\\'] })).toBe(
      "SELECT 'it\\'s', 5 WHERE x IN ['b', '\\\\']",
    );
  });

  it('should not read a parameter’s own text as a parameter', () => {
    expect(shownSql('{a: String}', { a: '{b: String}' })).toBe("'{b: String}'");
  });

  it('should hold no control character', () => {
    const shown = shownSql('{a: String}', { a: '\u0000\u0007\n\u009b\u001b[2J' });
    expect(shown).toBe("'\\0\\x07\\n\\xC2\\x9B\\x1B[2J'");
    expect(shown).not.toMatch(/\p{Cc}/u);
  });

  it('should refuse a parameter without a value', () => {
    expect(() => shownSql('{a: String}', {})).toThrow('a has no value');
  });
});
