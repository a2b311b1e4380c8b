// The files of a rotating export, as its reader asks for them.
import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** Where the engine of a state directory writes what it sees. */
export function exportFileIn(stateDir: string): string {
  return path.join(stateDir, 'engine', 'export', 'events.log');
}

export type ExportFile = { readonly file: string; readonly inode: string };
export type OpenExport = {
  /** Of the file that was opened, whatever its name is by now. */
  readonly inode: string;
  size(): Promise<number>;
  /** Fills `into` from `position` as far as one read goes; answers the bytes read. */
  read(into: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
};
export type ExportFiles = {
  /** The rotated files of an export, oldest first, then the live one; only files that are there. */
  list(live: string): Promise<readonly ExportFile[]>;
  /** The file's inode, or undefined when it is not there. */
  inodeOf(file: string): Promise<string | undefined>;
  /** Opens a file for reading, or undefined when it has gone meanwhile. */
  open(file: string): Promise<OpenExport | undefined>;
};

/** The real disk. Backups are `name-<time>.ext`, so names sort by time. */
export const diskExport: ExportFiles = { list, inodeOf, open: openIfThere };

async function inodeOf(file: string): Promise<string | undefined> {
  try {
    return String((await stat(file, { bigint: true })).ino);
  } catch {
    return undefined;
  }
}

async function list(live: string): Promise<readonly ExportFile[]> {
  const { dir, name, ext } = path.parse(live);
  const rotated = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}$/;
  const names = await readdir(dir).catch((): string[] => []);
  const backups = names
    .filter((one) => one.startsWith(`${name}-`) && one.endsWith(ext))
    .filter((one) => rotated.test(one.slice(name.length + 1, one.length - ext.length)))
    .sort();
  const found: ExportFile[] = [];
  for (const file of [...backups.map((one) => path.join(dir, one)), live]) {
    const inode = await inodeOf(file);
    // A rename between the listing and this question shows one file twice; the first place is the older one.
    if (inode !== undefined && !found.some((one) => one.inode === inode)) {
      found.push({ file, inode });
    }
  }
  return found;
}

async function openIfThere(file: string): Promise<OpenExport | undefined> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return undefined;
  const inode = String((await handle.stat({ bigint: true })).ino);
  return {
    inode,
    size: async () => (await handle.stat()).size,
    read: async (into, position) =>
      (await handle.read(into, 0, into.byteLength, position)).bytesRead,
    close: () => handle.close(),
  };
}
