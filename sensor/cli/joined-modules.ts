// The schema library is 700 modules, which hold 20 MB in a process for as long as it runs; joined, with a file for each of
// its two entries, they hold 3. Joined once, when the Sensor warms up; without the files it runs from the modules. decision: D1
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const FILE_MODE = 0o644;
const ENTRIES = new Map([
  ['typebox', 'typebox'],
  ['typebox/compile', 'typebox-compile'],
]);

/** Joins the modules behind each entry into files of this folder, which appears whole or not at all. */
export async function joinModules(folder: string): Promise<void> {
  const { build } = await import('rolldown');
  const { diskFiles } = await import('../state-directory/file-port.ts');
  const making = `${folder}.${process.pid}`;
  try {
    await mkdir(dirname(folder), { recursive: true });
    await build({
      input: Object.fromEntries([...ENTRIES].map(([entry, name]) => [name, entry])),
      platform: 'node',
      logLevel: 'silent',
      output: { dir: making, format: 'esm', entryFileNames: '[name].mjs' },
    });
    // Power that fails after the rename must not leave empty files, which would keep every later start from coming up.
    for (const name of await diskFiles.list(making)) {
      const file = await diskFiles.open(join(making, name), 'append', FILE_MODE);
      await file.sync().finally(() => file.close());
    }
    await diskFiles.syncDirectory(making);
    await rename(making, folder);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/** From now on imports of the entries load the files of this folder, if it is there. */
export function useJoinedModules(folder: string): void {
  if (!existsSync(folder)) return;
  const urls = new Map(
    [...ENTRIES].map(([entry, name]) => [entry, pathToFileURL(join(folder, `${name}.mjs`)).href]),
  );
  registerHooks({
    resolve(specifier, context, next) {
      const url = urls.get(specifier);
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
  });
}
