// The table of this folder's README and the tests agree: what it calls proven is proven where it says, and no attack is
// tried that it does not list.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, textOf } from '../tidy/files.ts';

const LAST = 37;
const HERE = 'props/attacks/';
const readme = textOf(`${HERE}README.md`);

type Row = { readonly number: number; readonly outcome: string; readonly files: readonly string[] };
const cellsOf = (line: string) => line.split('|').map((cell) => cell.trim());
const rows: readonly Row[] = [...readme.matchAll(/^\| \d+ +\|.*$/gm)].flatMap(([line]) => {
  const [, number, , outcome, files] = cellsOf(line);
  if (files === undefined || files === '') return [];
  const paths = [...files.matchAll(/`([^`]+)`/g)].map(([, path]) => path ?? '');
  return [{ number: Number(number), outcome: outcome ?? '', files: paths }];
});
const waiting = [...readme.matchAll(/^\| ([\d, ]+?) +\|[^|]+\|$/gm)].flatMap(([, list]) =>
  (list ?? '').split(',').map(Number),
);
const triedIn = (path: string) =>
  [...textOf(path).matchAll(/describe(?:\.skipIf\([^)]*\))?\(\s*'attack (\d+): /g)].map(
    ([, number]) => Number(number),
  );

describe('the table of attacks', () => {
  it('should place every number once: proven, or waiting', () => {
    const all = [...rows.map(({ number }) => number), ...waiting].sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: LAST }, (_, at) => at + 1));
    expect(rows.filter(({ outcome, files }) => outcome === '' || files.length === 0)).toEqual([]);
  });

  it('should find each number in the files it names', () => {
    const missing = rows.flatMap(({ number, files }) =>
      files.flatMap((path) => {
        if (!existsSync(join(ROOT, path)) || !path.endsWith('.test.ts')) return [`no test ${path}`];
        // Files elsewhere have names of their own.
        if (!path.startsWith(HERE) || triedIn(path).includes(number)) return [];
        return [`${path} has no attack ${number}`];
      }),
    );
    expect(missing).toEqual([]);
  });

  it('should list every attack that is tried here', () => {
    const listed = new Set(
      rows.flatMap(({ number, files }) => files.map((path) => `${number} ${path}`)),
    );
    const unlisted = readdirSync(join(ROOT, HERE))
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${HERE}${name}`)
      .flatMap((path) => triedIn(path).map((number) => `${number} ${path}`))
      .filter((one) => !listed.has(one));
    expect(unlisted).toEqual([]);
  });
});
