import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesLike, ROOT, textOf } from './files.ts';

const readme = textOf('README.md');
const numbers = (letter: string) =>
  new Set(
    [...readme.matchAll(new RegExp(`^\\*\\*${letter}(\\d+)\\*\\*`, 'gm'))].map(([, n]) =>
      Number(n),
    ),
  );

describe('README', () => {
  it('should name only paths that exist', () => {
    const paths = [
      ...readme.matchAll(/`((?:machines|actors|gateway|storage|sensor|props|\.ci)\/[\w./-]*)`/g),
    ].map(([, path]) => path ?? '');
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('should define every invariant and decision that code cites, and name a proof for each invariant', () => {
    const cited = { I: numbers('I'), D: numbers('D') };
    const unknown = filesLike(/\.(ts|js|sql|md)$/).flatMap((path) =>
      [...textOf(path).matchAll(/\b(?:invariant|decision): ((?:[ID]\d+(?:, )?)+)/g)].flatMap(
        ([, list]) =>
          (list ?? '')
            .split(', ')
            .filter((one) => {
              const known = one.startsWith('I') ? cited.I : cited.D;
              return one !== '' && !known.has(Number(one.slice(1)));
            })
            .map((one) => `${path}: ${one}`),
      ),
    );
    expect(unknown).toEqual([]);
    const unproven = [...readme.matchAll(/^\*\*I\d+\*\*.*$/gm)]
      .map(([line]) => line)
      .filter((line) => !line.includes('`props/') && !line.includes('.test.ts`'));
    expect(unproven).toEqual([]);
  });

  it('should leave no word of the workshop in the tree', () => {
    const forbidden = [/\bTODO\b/, /\bFIXME\b/, /\bXXX\b/];
    const found = filesLike(/\.(ts|js|md|json|sql)$/)
      .filter((path) => path !== 'props/tidy/documents.test.ts' && path !== 'package-lock.json')
      .flatMap((path) =>
        forbidden.filter((word) => word.test(textOf(path))).map((word) => `${path}: ${word}`),
      );
    expect(found).toEqual([]);
  });
});
