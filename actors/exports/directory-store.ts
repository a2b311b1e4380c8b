// Objects as files of one folder. A file is written beside its place and moved there, so that nobody sees half of one.
// decision: D158
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ObjectStore } from './object-store.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Makes the store; its folders are made with the first file. Names were judged before they come here. */
export function createDirectoryStore(folder: string): ObjectStore {
  return {
    async write(name, from, signal) {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
      const beside = `${path}.${randomUUID()}.partial`;
      try {
        const to = createWriteStream(beside, { mode: FILE_MODE, flush: true });
        await pipeline(from, to, { signal });
        await rename(beside, path);
      } catch (error) {
        await rm(beside, { force: true });
        throw error;
      }
      await synced(dirname(path));
    },
    async read(name) {
      const file = await open(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      return file === null ? null : createReadStream('', { fd: file });
    },
    async remove(name) {
      await rm(join(folder, name), { force: true });
    },
  };
}

async function synced(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
