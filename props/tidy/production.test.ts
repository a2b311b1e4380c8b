// What `npm ci --omit=dev` installs is what the programs import: every package that can be reached from an entry program,
// lazily or in a thread, too, stands in the lock file as one of production, with all that it depends on itself.
import { existsSync } from 'node:fs';
import { builtinModules, stripTypeScriptTypes } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, textOf } from './files.ts';

/** The programs, and what they start by a path that is put together. */
const ENTRIES = [
  ...['gateway/cli/service-console.js', 'gateway/cli/service-console.ts'],
  ...['gateway/cli/service-license.js', 'gateway/cli/service-license.ts'],
  ...['sensor/cli/service-sensor.js', 'sensor/cli/service-sensor.ts'],
  ...['gateway/main.ts', 'sensor/main.ts', 'sensor/engine/procfs/procfs-engine.ts'],
];
/** Asked for where it may be missing: only a checkout builds the page. */
const MAY_BE_MISSING: readonly string[] = ['vite'];
const FILES_MIN = 900;
const PACKAGES_MIN = 30;
const IMPORTS = [
  /^\s*(?:import|export)\s[^'"`;]*?from\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]/g,
  /\bcreateRequire\(import\.meta\.url\)(?:\.resolve)?\(\s*['"]([^'"]+)['"]/g,
  /\bnew URL\(\s*['"](\.[^'"]+\.[jt]s)['"],\s*import\.meta\.url/g,
];

type Entry = {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
};
const { packages }: { readonly packages: Readonly<Record<string, Entry>> } = JSON.parse(
  textOf('package-lock.json'),
);

/** What a file asks for at run time; types are no imports. */
function importsOf(path: string): readonly string[] {
  const text = path.endsWith('.ts') ? stripTypeScriptTypes(textOf(path)) : textOf(path);
  return IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name ?? ''));
}

const packageOf = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
const isOfNode = (name: string) => name.startsWith('node:') || builtinModules.includes(name);

/** Every file that can be reached, and who asks for which package. */
function reached(): { readonly files: ReadonlySet<string>; readonly asked: Map<string, string> } {
  const files = new Set<string>(ENTRIES);
  const asked = new Map<string, string>();
  // A set that grows while it is walked is walked to its end.
  for (const file of files) {
    for (const name of importsOf(file)) {
      if (name.startsWith('.')) {
        const path = normalize(join(dirname(file), name));
        if (existsSync(join(ROOT, path))) files.add(path);
        else if (!path.includes('/dist/')) asked.set(path, `${file} (no such file)`);
      } else if (!isOfNode(name)) asked.set(packageOf(name), file);
    }
  }
  return { files, asked };
}

/** Where a package that another names is installed: beside it, or further out. */
function placeOf(name: string, from: string): string | null {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (at === '') return null;
  }
}

it('should be installed without what is for development alone', () => {
  const { files, asked } = reached();
  expect(files.size).toBeGreaterThan(FILES_MIN);
  expect(asked.size).toBeGreaterThan(PACKAGES_MIN);
  const mistakes: string[] = [];
  const places = new Map<string, string>();
  const take = (name: string, from: string, by: string): void => {
    const place = placeOf(name, from);
    if (place === null) mistakes.push(`${name}, which ${by} imports, is not in the lock file`);
    else if (!places.has(place)) places.set(place, by);
  };
  for (const [name, file] of asked) if (!MAY_BE_MISSING.includes(name)) take(name, '', file);
  for (const [place, by] of places) {
    const { dev = false, devOptional = false, dependencies = {} } = packages[place] ?? {};
    if (dev || devOptional) mistakes.push(`${place}, which ${by} imports, is for development`);
    for (const name of Object.keys(dependencies)) take(name, place, place);
  }
  expect(mistakes).toEqual([]);
});
