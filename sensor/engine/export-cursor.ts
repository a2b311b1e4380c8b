// Where a reader stands in a rotating export, in words that survive a restart. The inode finds the file after it was
// renamed; the digest of its first bytes tells it from another file that got the same inode, or from itself rewritten.
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { EXPORT_HEAD_BYTES } from '../../machines/limits.ts';

export type ExportCursor = {
  readonly inode: string;
  readonly offset: number;
  /** Digest of the first min(offset, EXPORT_HEAD_BYTES) bytes. */
  readonly head: string;
};

/** A stored cursor as it comes back from JSON; undefined when it is none, which means: from the oldest line. */
export function parseExportCursor(value: unknown): ExportCursor | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { inode, offset, head } = value as { inode?: unknown; offset?: unknown; head?: unknown };
  if (typeof inode !== 'string' || typeof head !== 'string') return undefined;
  if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) return undefined;
  return { inode, offset, head };
}

export type ExportFile = { readonly file: string; readonly inode: string };

/** The file's inode, or undefined when it is not there. */
export async function inodeOf(file: string): Promise<string | undefined> {
  try {
    return String((await stat(file, { bigint: true })).ino);
  } catch {
    return undefined;
  }
}

/** The rotated files of an export, oldest first, then the live one. Backups are `name-<time>.ext`, so names sort by time. */
export async function exportFiles(live: string): Promise<ExportFile[]> {
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

/** Opens a file for reading, or undefined when it has gone meanwhile. */
export async function openIfThere(file: string): Promise<FileHandle | undefined> {
  return open(file, 'r').catch(() => undefined);
}

/** Digest of the bytes before `offset`, at most EXPORT_HEAD_BYTES of them; '' when there are none. */
export async function headDigest(handle: FileHandle, offset: number): Promise<string> {
  const length = Math.min(offset, EXPORT_HEAD_BYTES);
  if (length === 0) return '';
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
  return createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex').slice(0, 32);
}
