// Where a reader stands in a rotating export, in words that survive a restart. The inode finds the file after it was
// renamed; the digest of its first bytes tells it from another file that got the same inode, or from itself rewritten.
import { createHash } from 'node:crypto';
import { EXPORT_HEAD_BYTES } from '../../machines/limits.ts';
import type { OpenExport } from './export-files.ts';

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

/** Digest of the bytes before `offset`, at most EXPORT_HEAD_BYTES of them; '' when there are none. */
export async function headDigest(file: OpenExport, offset: number): Promise<string> {
  const length = Math.min(offset, EXPORT_HEAD_BYTES);
  if (length === 0) return '';
  const head = Buffer.alloc(length);
  const filled = await file.read(head, 0);
  return createHash('sha256').update(head.subarray(0, filled)).digest('hex').slice(0, 32);
}
