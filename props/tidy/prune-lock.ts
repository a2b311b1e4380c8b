// Takes out of the lock file the packages of platforms for which no integrity could be fetched, with what asks for them:
// nothing is ever installed unpinned. Run it after an `npm install` that brought some in again.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './files.ts';

type Entry = {
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly optionalDependencies?: Record<string, string>;
};

const file = join(ROOT, 'package-lock.json');
const lock: { packages: Record<string, Entry> } = JSON.parse(readFileSync(file, 'utf8'));
const gone = new Set<string>();
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '' || entry.integrity !== undefined || !entry.optional) continue;
  gone.add(path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  delete lock.packages[path];
}
for (const { optionalDependencies = {} } of Object.values(lock.packages)) {
  for (const name of gone) delete optionalDependencies[name];
}
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${gone.size} packages without integrity taken out of the lock file`);
