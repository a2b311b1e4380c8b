// Where a reader stands in a rotating export, in words that survive a restart. The inode finds the file after it was
// renamed; the digest of its first bytes tells it from another file that got the same inode, or from itself rewritten;
// the digest of the last bytes read tells whether its end went back, as after a power loss, since engines do not sync.
import { createHash } from 'node:crypto';
import { EXPORT_HEAD_BYTES, EXPORT_RUN_MAX_CHARS } from '../../machines/limits.ts';
import type { OpenExport } from './export-files.ts';
import type { LineCount } from './export-head.ts';

export type ExportCursor = {
  readonly inode: string;
  readonly offset: number;
  /** Digest of the first min(offset, EXPORT_HEAD_BYTES) bytes. */
  readonly head: string;
  /** Digest of the last min(offset, EXPORT_HEAD_BYTES) bytes before the offset; older cursors have none. */
  readonly tail?: string;
  /** Lines of the export before the offset, and the run they are counted in; none where no head of a file told it. */
  readonly line?: number;
  readonly run?: string;
};

/** A stored cursor as it comes back from JSON; undefined when it is none, which means: from the oldest line. */
export function parseExportCursor(value: unknown): ExportCursor | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { inode, offset, head, tail, line, run } = value as Partial<
    Record<keyof ExportCursor, unknown>
  >;
  if (typeof inode !== 'string' || typeof head !== 'string') return undefined;
  if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0) return undefined;
  const digests = typeof tail === 'string' ? { head, tail } : { head };
  return { inode, offset, ...digests, ...parseCount(line, run) };
}

function parseCount(line: unknown, run: unknown): LineCount | undefined {
  if (typeof line !== 'number' || !Number.isSafeInteger(line) || line < 0) return undefined;
  if (typeof run !== 'string' || run === '' || run.length > EXPORT_RUN_MAX_CHARS) return undefined;
  return { line, run };
}

/** How many lines stand before a cursor, where that is known. */
export function lineCountOf({ line, run }: ExportCursor): LineCount | undefined {
  return line === undefined || run === undefined ? undefined : { line, run };
}

/** Digest of the first bytes of a file, at most EXPORT_HEAD_BYTES and none behind `offset`; '' when there are none. */
export function headDigest(file: OpenExport, offset: number): Promise<string> {
  return digestOf(file, 0, Math.min(offset, EXPORT_HEAD_BYTES));
}

/** Digest of the last bytes before `offset`, at most EXPORT_HEAD_BYTES; '' when there are none. */
export function tailDigest(file: OpenExport, offset: number): Promise<string> {
  const length = Math.min(offset, EXPORT_HEAD_BYTES);
  return digestOf(file, offset - length, length);
}

async function digestOf(file: OpenExport, position: number, length: number): Promise<string> {
  if (length === 0) return '';
  const bytes = Buffer.alloc(length);
  const filled = await file.read(bytes, position);
  return createHash('sha256').update(bytes.subarray(0, filled)).digest('hex').slice(0, 32);
}
