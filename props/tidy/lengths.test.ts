import { describe, expect, it } from 'vitest';
import { filesLike, textOf } from './files.ts';

const LINES_MAX = 400;
const README_LINES_MAX = 60;

describe('lengths', () => {
  it('should keep every source file within its limit', () => {
    const long = filesLike(/\.(ts|tsx|js|cjs|sql|c)$/)
      .map((path) => ({ path, lines: textOf(path).split('\n').length - 1 }))
      .filter(({ lines }) => lines > LINES_MAX);
    expect(long).toEqual([]);
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
