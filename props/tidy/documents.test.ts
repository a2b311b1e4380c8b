import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesLike, ROOT, textOf } from './files.ts';

const README_BYTES_MAX = 10_240;
const DECISION_LINES_MAX = 40;
const SENTENCE_WORDS_MAX = 40;
const DECISION_TITLE_MAX = 45;
const readme = textOf('README.md');
const invariants = textOf('props/invariants.md');
const decisions = filesLike(/^props\/decisions\/.*\.md$/);
const numbers = (letter: string, text = readme) =>
  new Set(
    [...text.matchAll(new RegExp(`^(?:\\*\\*|- )${letter}(\\d+)\\b`, 'gm'))].map(([, n]) =>
      Number(n),
    ),
  );

describe('README', () => {
  it('should be read in a few minutes', () => {
    expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(README_BYTES_MAX);
  });

  it('should name only paths that exist', () => {
    const paths = [
      ...`${readme}${invariants}`.matchAll(
        /`((?:machines|actors|gateway|storage|sensor|props|\.ci)\/[\w./-]*)`/g,
      ),
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
    const unproven = [...invariants.matchAll(/^\*\*I\d+\*\*.*$/gm)]
      .map(([line]) => line)
      .filter((line) => !line.includes('`props/') && !line.includes('.test.ts`'));
    expect(unproven).toEqual([]);
    expect([...numbers('I', invariants)]).toEqual([...numbers('I')]);
  });

  it('should say each decision in a file of its own, and no other', () => {
    const named = decisions.map(
      (path) => /^props\/decisions\/D(\d+)-[a-z0-9-]+\.md$/.exec(path)?.[1],
    );
    const byNumber = (a: number, b: number) => a - b;
    expect(named.map(Number).sort(byNumber)).toEqual([...numbers('D')].sort(byNumber));
    const untitled = decisions.filter((path) => {
      const [title = ''] = textOf(path).split('\n');
      const [, number = '', words = ''] = /^# (D\d+) (.+)$/.exec(title) ?? [];
      return !readme.includes(`- ${number} ${words}\n`);
    });
    expect(untitled).toEqual([]);
    const titles = [...readme.matchAll(/^- D\d+ (.+)$/gm)].map(([, title = '']) => title);
    expect(titles.filter((title) => title.length > DECISION_TITLE_MAX)).toEqual([]);
  });

  it('should keep a decision short: context, choice, reason, rejected', () => {
    const wrong = decisions.flatMap((path) => {
      const text = textOf(path);
      const parts = ['Context', 'Choice', 'Reason', 'Rejected'].filter(
        (part) => !text.includes(`\n**${part}.**`),
      );
      const lines = text.split('\n').length - 1;
      return [
        ...parts.map((part) => `${path} has no ${part}`),
        ...(lines > DECISION_LINES_MAX ? [`${path} has ${lines} lines`] : []),
        ...longSentencesOf(text).map((sentence) => `${path}: ${sentence}`),
      ];
    });
    expect(wrong).toEqual([]);
  });

  it('should have every folder name the folders in it', () => {
    const files = filesLike(/./);
    const unnamed = files
      .filter((path) => path.endsWith('/README.md'))
      .flatMap((path) => {
        const folder = path.slice(0, -'README.md'.length);
        const inside = files.filter((one) => one.startsWith(folder) && one !== path);
        const names = inside.flatMap(
          (one) => /^([^/]+)\//.exec(one.slice(folder.length))?.[1] ?? [],
        );
        const text = textOf(path);
        return [...new Set(names)]
          .filter((name) => !new RegExp(`[\`/ ]${name}/`).test(text))
          .map((name) => `${path}: ${name}/`);
      });
    expect(unnamed).toEqual([]);
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

/** Sentences with more words than one reads in a breath. */
function longSentencesOf(text: string): readonly string[] {
  return text
    .split(/\n\n|\n(?=- )/)
    .flatMap((block) => block.replaceAll('\n', ' ').split(/(?<=[.!?])\s+/))
    .filter((sentence) => sentence.split(/\s+/).length > SENTENCE_WORDS_MAX);
}
