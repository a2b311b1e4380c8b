// What the page is made of, as one hash: a build bears it in its name, so that a page that fits its sources is known
// without looking at times, which copies and checkouts do not keep.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');
export const WEB = join(ROOT, 'gateway', 'web');
/** Where a build is put in a checkout. */
export const DIST = join(WEB, 'dist');

const SOURCES = [WEB, join(ROOT, 'machines'), import.meta.dirname];
const NAME_CHARS = 16;

/** The hash of every source of the page, as the name of its folder. */
export function hashOfSources(): string {
  const hash = createHash('sha256');
  const files = [...SOURCES.flatMap(filesIn), join(ROOT, 'package-lock.json')];
  for (const path of files.sort()) {
    hash
      .update(`${relative(ROOT, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return hash.digest('hex').slice(0, NAME_CHARS);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (path === DIST) return [];
    if (entry.isDirectory()) return filesIn(path);
    return /\.test\.tsx?$|\.md$/.test(entry.name) ? [] : [path];
  });
}
