// The schema library is 700 modules, which hold 20 MB in a process for as long as it runs; joined, with a file for each of
// its two entries, they hold 3. Joined once, when the Sensor warms up; without the files it runs from the modules. decision: D1
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const FILE_MODE = 0o644;
const ENTRIES = new Map([
  ['typebox', 'typebox'],
  ['typebox/compile', 'typebox-compile'],
]);

/** What the folder of joined modules is called: another version of the library is joined anew. */
export function joinedName(root: string): string {
  const about = readFileSync(join(root, 'node_modules', 'typebox', 'package.json'), 'utf8');
  return `joined-${(JSON.parse(about) as { version: string }).version}`;
}

/**
 * Joins the modules behind each entry, as this program finds them, into files of this folder, which appears whole or
 * not at all. The caller's working directory does not matter.
 */
export async function joinModules(folder: string): Promise<void> {
  const { build } = await import('rolldown');
  const { diskFiles } = await import('../state-directory/file-port.ts');
  const making = `${folder}.${process.pid}`;
  try {
    await mkdir(dirname(folder), { recursive: true });
    await build({
      cwd: import.meta.dirname,
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

/** Joins as above; a failure is remembered beside the folder and told, so that no later start tries and fails again. */
export async function tryToJoin(folder: string, tell: (line: string) => void): Promise<void> {
  try {
    await joinModules(folder);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    tell(`the schema library could not be joined, so the Sensor holds 17 MB more: ${reason}`);
    await writeFile(failureMark(folder), `${reason}\n`, { mode: FILE_MODE }).catch(() => undefined);
  }
}

/** Whether a start should join: nothing is there, no earlier try failed, and this user may write beside it. */
export function isJoiningDue(folder: string): boolean {
  return !existsSync(folder) && !existsSync(failureMark(folder)) && mayWrite(dirname(folder));
}

const failureMark = (folder: string) => `${folder}.failed`;

// The folder itself, or the nearest one above it that exists.
function mayWrite(folder: string): boolean {
  if (!existsSync(folder)) return dirname(folder) !== folder && mayWrite(dirname(folder));
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
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
