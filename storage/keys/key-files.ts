// Files that hold keys and certificates. A file is written beside its place, flushed, renamed, and the folder flushed,
// so a crash leaves the old content or the new one and nothing between. Private files are mode 600, folders 700.
// invariant: I7
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

const PRIVATE_FILE_MODE = 0o600;
const PUBLIC_FILE_MODE = 0o644;
const FOLDER_MODE = 0o700;

/** Makes a folder that only its owner can enter, also when it was there with a wider mode. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  await chmod(folder, FOLDER_MODE);
}

/** Writes a whole file durably and atomically; `private` (mode 600) unless said otherwise. */
export async function writeFileDurably(
  file: string,
  text: string,
  visibility: 'private' | 'public' = 'private',
): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  const mode = visibility === 'private' ? PRIVATE_FILE_MODE : PUBLIC_FILE_MODE;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
  await flushFolder(dirname(file));
}

/** The text of a file, or undefined when it does not exist; every other failure throws, so nothing is overwritten. */
export async function readIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Puts a private file back to mode 600. */
export async function keepPrivate(file: string): Promise<void> {
  await chmod(file, PRIVATE_FILE_MODE);
}

/** Makes renames in a folder durable. */
export async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
