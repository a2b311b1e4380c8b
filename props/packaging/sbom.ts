// A CycloneDX software bill of materials for each of the two programs: the packages that its own modules import, what
// those need, Node itself, and for the Sensor what its engine is linked with. Made by `npm run build:sbom`.
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { PackageURL } from 'packageurl-js';

const ROOT = join(import.meta.dirname, '..', '..');
export const PROGRAMS = {
  'service-console': ['machines', 'actors', 'gateway', 'storage'],
  'service-sensor': [
    'machines/wire',
    'machines/trust',
    'machines/sensor',
    'actors/runtime',
    'sensor',
  ],
} as const;
export type ProgramName = keyof typeof PROGRAMS;

/** What the engine is linked with: name, version, SPDX expression. See sensor/engine/native/NOTICE.md. */
const ENGINE_LIBRARIES = [
  ['glibc', '2.36', 'LGPL-2.1-or-later'],
  ['libelf', '0.188', 'LGPL-3.0-or-later'],
  ['libbpf', '1.1.2', 'BSD-2-Clause'],
  ['zlib', '1.2.13', 'Zlib'],
] as const;

type Locked = {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
type Lock = Readonly<Record<string, Locked>>;

/** Every package of the lock file by its path. */
export function lockedPackages(): Lock {
  return JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
}

/** Paths of the packages a program runs and of those that they need, but for these and what only they need. */
export function packagesOf(
  program: ProgramName,
  without: readonly string[] = [],
  imported: readonly string[] = importedBy(PROGRAMS[program]),
): string[] {
  const lock = lockedPackages();
  const found = new Set<string>();
  const take = (path: string): void => {
    const isOut = without.some((name) => path === `node_modules/${name}`);
    if (isOut || found.has(path) || lock[path] === undefined) return;
    found.add(path);
    for (const needed of neededBy(lock, path)) take(needed);
  };
  for (const name of imported) take(`node_modules/${name}`);
  return [...found].sort();
}

/** What the Console imports while it runs: of the page only what was built is there. */
export function importedByServer(): readonly string[] {
  const page = ['gateway/web', 'gateway/page'];
  const others = readdirSync(join(ROOT, 'gateway'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `gateway/${name}`);
  const folders = others.filter((folder) => !page.includes(folder));
  return importedBy(['machines', 'actors', 'storage', ...folders]);
}

/**
 * The bill of one program as CycloneDX 1.6 JSON text, but for packages left out of what is shipped; the same for the same
 * lock file and sources.
 */
export function sbomOf(program: ProgramName, without: readonly string[] = []): string {
  const lock = lockedPackages();
  const isIn = (path: string) => !without.some((name) => path === `node_modules/${name}`);
  const { version = '' } = lock[''] ?? {};
  const self = new Models.Component(Enums.ComponentType.Application, program, {
    version,
    bomRef: program,
    licenses: licensesOf('Apache-2.0'),
  });
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: self }) });
  const made = new Map<string, Models.Component>();
  const componentAt = (path: string): Models.Component => {
    const known = made.get(path);
    if (known !== undefined) return known;
    const component = packageComponent(path, lock[path] ?? {});
    made.set(path, component);
    bom.components.add(component);
    for (const needed of neededBy(lock, path).filter(isIn))
      component.dependencies.add(componentAt(needed).bomRef);
    return component;
  };
  // The embedded databases are found by their names at run time.
  const embedded = program === 'service-console' ? optionalOf(lock) : [];
  for (const name of ['node', ...embedded, ...importedBy(PROGRAMS[program])]) {
    const path = `node_modules/${name}`;
    if (lock[path] !== undefined && isIn(path)) self.dependencies.add(componentAt(path).bomRef);
  }
  if (program === 'service-sensor') {
    for (const library of ENGINE_LIBRARIES) {
      const component = engineLibrary(library);
      bom.components.add(component);
      self.dependencies.add(component.bomRef);
    }
  }
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 });
}

function optionalOf(lock: Lock): readonly string[] {
  return Object.keys(lock['']?.optionalDependencies ?? {});
}

function packageComponent(path: string, entry: Locked): Models.Component {
  const whole = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const [group, name] = whole.startsWith('@') ? whole.split('/') : [undefined, whole];
  const { version = '', license = '', integrity = '' } = entry;
  const [, digest = ''] = integrity.split('-');
  return new Models.Component(Enums.ComponentType.Library, name ?? whole, {
    ...(group === undefined ? {} : { group }),
    version,
    bomRef: path,
    purl: new PackageURL('npm', group, name ?? whole, version, undefined, undefined).toString(),
    licenses: licensesOf(license),
    hashes: new Models.HashDictionary(
      integrity.startsWith('sha512-')
        ? [[Enums.HashAlgorithm['SHA-512'], Buffer.from(digest, 'base64').toString('hex')]]
        : [],
    ),
  });
}

function engineLibrary([name, version, license]: (typeof ENGINE_LIBRARIES)[number]) {
  return new Models.Component(Enums.ComponentType.Library, name, {
    version,
    bomRef: `engine/${name}`,
    purl: new PackageURL('deb', 'debian', name, version, undefined, undefined).toString(),
    licenses: licensesOf(license),
  });
}

function licensesOf(expression: string): Models.LicenseRepository {
  return new Models.LicenseRepository(
    expression === '' ? [] : [new Models.LicenseExpression(expression)],
  );
}

/** Where a package's dependencies were put: the nearest folder up the tree, as Node looks for them. */
function neededBy(lock: Lock, path: string): readonly string[] {
  const { dependencies, optionalDependencies } = lock[path] ?? {};
  return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    for (let from = path; ; from = from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/')))) {
      const found = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
      if (lock[found] !== undefined) return [found];
      if (from === '') return [];
    }
  });
}

/** Names of the packages that the modules of some folders import, tests and fixtures apart. */
function importedBy(folders: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const folder of folders) {
    for (const file of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.(ts|tsx|js)$/.test(file) || /\.(test|fixture|d)\.ts$/.test(file)) continue;
      if (/(^|\/)(node_modules|dist)\//.test(file)) continue;
      const text = readFileSync(join(ROOT, folder, file), 'utf8');
      for (const [, name = ''] of text.matchAll(
        /(?:from|import\(|resolve\(\s*|\)\()\s*['"`]([@a-zA-Z][^'"`]*)['"`]/g,
      )) {
        if (!isBuiltin(name))
          names.add(
            name
              .split('/')
              .slice(0, name.startsWith('@') ? 2 : 1)
              .join('/'),
          );
      }
    }
  }
  return [...names].sort();
}
