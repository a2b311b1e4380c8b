// The table of ASVS 5 and the tests agree: every requirement of its levels stands there once, what is met names a test that
// is there, and what is not says why.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesLike, ROOT, textOf } from '../tidy/files.ts';

const table = textOf('props/attacks/asvs.md');
/** How many requirements each chapter has: level 1 and 2, and level 3 in chapters 6, 7, 8 and 11. */
const REQUIREMENTS: Readonly<Record<string, number>> = {
  ...{ 1: 27, 2: 11, 3: 19, 4: 10, 5: 9, 6: 47, 7: 19, 8: 13, 9: 7 },
  ...{ 10: 29, 11: 24, 12: 9, 13: 13, 14: 9, 15: 13, 16: 16, 17: 7 },
};
const STANDS = ['met', 'does not apply', 'open'];

type Row = {
  readonly number: string;
  readonly level: string;
  readonly stands: string;
  readonly why: string;
};
const rows: readonly Row[] = table
  .split('\n')
  .filter((line) => /^\| \d+\.\d+\.\d+ /.test(line))
  .map((line) => {
    const [, number = '', level = '', , stands = '', why = ''] = line
      .split('|')
      .map((cell) => cell.trim());
    return { number, level, stands, why };
  });

describe('the table of ASVS 5', () => {
  it('should hold every requirement of its levels once, and say how it stands', () => {
    const counted: Record<string, number> = {};
    for (const { number } of rows) {
      const [chapter = ''] = number.split('.');
      counted[chapter] = (counted[chapter] ?? 0) + 1;
    }
    expect(counted).toEqual(REQUIREMENTS);
    expect(new Set(rows.map(({ number }) => number)).size).toBe(rows.length);
    const odd = rows.filter(
      ({ level, stands, why }) =>
        !/^[123]$/.test(level) || !STANDS.includes(stands) || why.length < 4,
    );
    expect(odd).toEqual([]);
  });

  it('should name a test that is there for everything that is met', () => {
    const missing = rows
      .filter(({ stands }) => stands === 'met')
      .filter(({ why }) => {
        const [, path = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(why) ?? [];
        if (title === '' || !existsSync(join(ROOT, path))) return true;
        const text = textOf(path);
        const at = text.indexOf(title);
        return at < 0 || !/(?:it|it\.each\([\s\S]*\))\(\s*['"]$/.test(text.slice(0, at));
      });
    expect(missing).toEqual([]);
  });

  it('should count what it holds as it says', () => {
    const count = (wanted: string) => rows.filter(({ stands }) => stands === wanted).length;
    const said = `Met: ${count('met')}. Does not apply: ${count('does not apply')}. Open: ${count('open')}.`;
    expect(table).toContain(said);
  });
});

const papers = textOf('props/attacks/asvs-papers.md');
const CLASSES = ['secret', 'verifier', 'personal', 'evidence', 'observed', 'operation'];
/** The cells of the rows of a table that begin with one of these. */
const rowsOf = (names: readonly string[]) =>
  papers
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, name = '']) => names.includes(name));

describe('what ASVS 5 asks to be written down', () => {
  it('should put every table of both databases into one class', () => {
    const made = filesLike(/^storage\/(relational|analytics)\/migrations\/.*\.sql$/).flatMap(
      (path) =>
        [
          ...textOf(path).matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)(?:.*-- class: (\w+))?/g),
        ].map(([, name = '', own]) => ({ name, own })),
    );
    const onPaper = [...papers.matchAll(/^- (\w+): ((?:`\w+`,?\s*)+)/gm)].flatMap(
      ([, name = '', list = '']) => {
        expect(CLASSES).toContain(name);
        return [...list.matchAll(/`(\w+)`/g)].map(([, table]) => table);
      },
    );
    const whereMade = made.flatMap(({ name, own }) => {
      if (own === undefined) return [];
      expect(CLASSES).toContain(own);
      return [name];
    });
    const classed = [...onPaper, ...whereMade];
    expect(classed.length).toBe(new Set(classed).size);
    const names = new Set(made.map(({ name }) => name));
    expect([...names].sort()).toEqual(classed.sort());
  });

  it('should say of each class how it is kept, sent, read and ended', () => {
    const told = rowsOf(CLASSES);
    expect(told.map(([, name]) => name)).toEqual(CLASSES);
    for (const cells of told) {
      expect(cells.length).toBe(8);
      for (const cell of cells.slice(1, 7)) expect(cell.length).toBeGreaterThan(4);
    }
  });

  it('should promise a time for each severity', () => {
    const told = rowsOf(['critical, or in use', 'high', 'medium', 'low']);
    expect(told.length).toBe(4);
    for (const [, , reached = '', other = ''] of told) {
      for (const time of [reached, other]) expect(time).toMatch(/^(\d+ days|next release)$/);
    }
  });
});
