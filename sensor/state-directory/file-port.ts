// The one way to the Sensor's disk. Identity, state and spool go through this port, so that a test can stand between
// any two calls: it ends the process before or after each of them and looks at what is left.
import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';

/** `read` an existing file; `append` to a file, made if absent; `replace` its content; `exclusive`: must not exist. */
export type OpenFor = 'read' | 'append' | 'replace' | 'exclusive';

export type OpenFile = {
  /** Fills `into` from `position`; answers the bytes read, fewer only at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Writes all bytes at the end. A rejection may leave a part of them behind. */
  append(bytes: Uint8Array): Promise<void>;
  truncate(length: number): Promise<void>;
  /** Resolves when data and length are on the disk. After a rejection the file's content is unknown. */
  sync(): Promise<void>;
  close(): Promise<void>;
};

export type FileFacts = {
  readonly bytes: number;
  /** Permission bits only. */
  readonly mode: number;
  readonly ownerId: number;
  readonly isDirectory: boolean;
};

/** Rejections carry node's `code` (`ENOENT`, `EEXIST`, `ENOSPC`, ...); `errorCode` reads it. */
export type Files = {
  open(path: string, how: OpenFor, mode: number): Promise<OpenFile>;
  readFile(path: string): Promise<Buffer>;
  /** Facts of a path without following a link; null when absent. */
  stat(path: string): Promise<FileFacts | null>;
  list(path: string): Promise<readonly string[]>;
  /** Makes a directory and its parents; an existing one keeps its mode. */
  makeDirectory(path: string, mode: number): Promise<void>;
  setMode(path: string, mode: number): Promise<void>;
  /** Atomic; replaces the target. */
  rename(from: string, to: string): Promise<void>;
  /** Idempotent: an absent file is success. */
  remove(path: string): Promise<void>;
  /** Makes renames and removals in a directory survive a power loss. */
  syncDirectory(path: string): Promise<void>;
};

// All that write append: a handle would otherwise go on at its own place after a truncation and leave zeros before it.
const WRITE = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
const FLAGS: Readonly<Record<OpenFor, number>> = {
  read: constants.O_RDONLY | constants.O_NOFOLLOW,
  append: WRITE,
  replace: WRITE | constants.O_TRUNC,
  exclusive: WRITE | constants.O_EXCL,
};

/** The real disk. */
export const diskFiles: Files = {
  open: async (path, how, mode) => openFile(await fs.open(path, FLAGS[how], mode)),
  readFile: (path) => fs.readFile(path),
  async stat(path) {
    try {
      const facts = await fs.lstat(path);
      return {
        bytes: facts.size,
        mode: facts.mode & 0o7777,
        ownerId: facts.uid,
        isDirectory: facts.isDirectory(),
      };
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return null;
      throw error;
    }
  },
  list: (path) => fs.readdir(path),
  async makeDirectory(path, mode) {
    await fs.mkdir(path, { recursive: true, mode });
  },
  setMode: (path, mode) => fs.chmod(path, mode),
  rename: (from, to) => fs.rename(from, to),
  remove: (path) => fs.rm(path, { force: true }),
  async syncDirectory(path) {
    const directory = await fs.open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },
};

function openFile(handle: fs.FileHandle): OpenFile {
  return {
    async read(into, position) {
      let filled = 0;
      while (filled < into.byteLength) {
        const left = into.byteLength - filled;
        const { bytesRead } = await handle.read(into, filled, left, position + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return filled;
    },
    async append(bytes) {
      let written = 0;
      while (written < bytes.byteLength) {
        const step = await handle.write(bytes, written, bytes.byteLength - written, null);
        written += step.bytesWritten;
      }
    },
    truncate: (length) => handle.truncate(length),
    sync: () => handle.datasync(),
    close: () => handle.close(),
  };
}

/** The code of a rejected file call, or `unknown`. */
export function errorCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return error.code;
  return 'unknown';
}
