import { describe, expect, it } from 'vitest';
import { filesLike, textOf } from './files.ts';
import { longFunctions } from './function-lengths.ts';
import longKnown from './long-functions.json' with { type: 'json' };

const LINES_MAX = 400;
const README_LINES_MAX = 60;
const FUNCTION_LINES_MAX = 70;

describe('lengths', () => {
  it('should keep every source file within its limit', () => {
    const long = filesLike(/\.(ts|tsx|js|cjs|sql|c)$/)
      .map((path) => ({ path, lines: textOf(path).split('\n').length - 1 }))
      .filter(({ lines }) => lines > LINES_MAX);
    expect(long).toEqual([]);
  });

  // A ratchet: nobody joins the list, nobody on it grows, and who came below the limit is taken off.
  it('should keep every function within its limit, but for those of a list that only shrinks', () => {
    const known: Readonly<Record<string, number>> = longKnown;
    const now = longFunctions(FUNCTION_LINES_MAX);
    const grown = Object.entries(now)
      .filter(([name, lines]) => lines > (known[name] ?? FUNCTION_LINES_MAX))
      .map(
        ([name, lines]) => `${name}: ${lines} lines, may have ${known[name] ?? FUNCTION_LINES_MAX}`,
      );
    expect(grown).toEqual([]);
    expect(Object.keys(known).filter((name) => now[name] === undefined)).toEqual([]);
  });

  it('should keep every folder README short, and every folder of the house has one', () => {
    const readmes = filesLike(/\/README\.md$/);
    for (const folder of ['machines', 'actors', 'gateway', 'storage', 'sensor', 'props']) {
      expect(readmes).toContain(`${folder}/README.md`);
    }
    const long = readmes.filter((path) => textOf(path).split('\n').length - 1 > README_LINES_MAX);
    expect(long).toEqual([]);
  });

  it('should call no file utils, helpers, common or types', () => {
    expect(filesLike(/\/(utils|helpers|common|types|index)\.(ts|js)$/)).toEqual([]);
  });
});
