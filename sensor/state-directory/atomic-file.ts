// Whole or not at all: a file is written under another name, synced, and renamed over the old one.
import { dirname, join } from 'node:path';
import { errorCode, type Files } from './file-port.ts';

const TEMPORARY_SUFFIX = '.tmp';

/** Replaces a file's content; after the promise resolves it survives a power loss, before it the old one stays. */
export async function writeAtomic(
  files: Files,
  directory: string,
  name: string,
  content: { readonly text: string; readonly mode: number },
): Promise<void> {
  const temporary = join(directory, `${name}${TEMPORARY_SUFFIX}`);
  await files.remove(temporary);
  const file = await files.open(temporary, 'exclusive', content.mode);
  try {
    await file.append(Buffer.from(content.text));
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(temporary, join(directory, name));
  await files.syncDirectory(directory);
}

/** Makes a directory and its parents if absent; after the promise resolves they survive a power loss. */
export async function makeDirectoryDurably(
  files: Files,
  path: string,
  mode: number,
): Promise<void> {
  // Each new directory is an entry of the one above; the nearest is synced always, since a crash may have come between.
  const above = [dirname(path)];
  for (let at = dirname(path); (await files.stat(at)) === null; at = dirname(at)) {
    above.push(dirname(at));
  }
  await files.makeDirectory(path, mode);
  for (const directory of above) {
    try {
      await files.syncDirectory(directory);
    } catch (error) {
      // A parent that may be entered but not read cannot be synced by this user.
      if (errorCode(error) !== 'EACCES') throw error;
    }
  }
}

/** Removes a file for good; an absent one is success. */
export async function removeDurably(files: Files, directory: string, name: string): Promise<void> {
  await files.remove(join(directory, name));
  await files.syncDirectory(directory);
}

/** The text of a file, null when absent. */
export async function readText(
  files: Files,
  directory: string,
  name: string,
): Promise<string | null> {
  const path = join(directory, name);
  return (await files.stat(path)) === null ? null : (await files.readFile(path)).toString();
}

/** Removes what a crash left half written; only the holder of the directory's lock may. */
export async function removeTemporaries(files: Files, directory: string): Promise<void> {
  for (const name of await files.list(directory)) {
    if (name.endsWith(TEMPORARY_SUFFIX)) await files.remove(join(directory, name));
  }
}
