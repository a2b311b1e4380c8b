// The repository's own files, as git knows them (tracked, or new and not ignored), for the tidy checks.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** Paths relative to the root that match a pattern. */
export function filesLike(pattern: RegExp): string[] {
  // The clone may belong to another user than the one who runs this.
  const trust = ['-c', 'safe.directory=*'];
  const list = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', [...trust, ...list], { cwd: ROOT, encoding: 'utf8' });
  return [...new Set(listed.split('\n'))].filter((path) => pattern.test(path)).sort();
}

/** The text of a file given relative to the root. */
export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Source text without comments and string contents, so that a word in prose is not taken for code. */
export function codeOf(path: string): string {
  return textOf(path)
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|[^:'"`])\/\/.*$/gm, '$1')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''");
}
