// The test files that `npm test` runs and that try a property or anything else by the seed of the run, one a line: those
// that .ci/run tries with a fresh one. Found by what they import, so that a new one is tried without anybody thinking of it.
//   node props/properties.ts
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const BY_SEED = /from 'fast-check'|process\.env\['PROPS_SEED'\]/;
/** What tests share; no part of the product tries anything by a seed. */
const IS_SHARED = /^props\/|\.(?:fixture|test)\.ts$/;

/** Whether it, or what it shares with other tests, goes by the seed. */
function goesBySeed(file: string, seen: Set<string>): boolean {
  if (seen.has(file) || !IS_SHARED.test(file)) return false;
  seen.add(file);
  const text = readFileSync(join(ROOT, file), 'utf8');
  if (BY_SEED.test(text)) return true;
  return [...text.matchAll(/from '(\.[^']+\.ts)'/g)].some(([, from = '']) =>
    goesBySeed(relative(ROOT, join(ROOT, dirname(file), from)), seen),
  );
}

/** They prove of tests, by the pinned seed, that they notice what is planted. */
const OF_TESTS = ['props/mutation/', 'props/tidy/'];

/** Their paths below the checkout, in order. */
export function filesBySeed(): readonly string[] {
  const exclude = (name: string) => name === 'node_modules';
  return globSync('**/*.test.ts', { cwd: ROOT, exclude })
    .filter((file) => !file.endsWith('.services.test.ts'))
    .filter((file) => !OF_TESTS.some((folder) => file.startsWith(folder)))
    .filter((file) => goesBySeed(file, new Set()))
    .sort();
}

if (import.meta.main) process.stdout.write(`${filesBySeed().join('\n')}\n`);
