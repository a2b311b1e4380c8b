// Reads a rotating JSON-lines export forward from a cursor and stores nothing: whoever processed the lines stores the
// cursor that came with them, in one step with what it made of them. decision: D13
//
// Rotation renames the file under the reader, so it keeps the file open, reads it to its end, and goes to the next newer
// one. A reader made from a stored cursor finds the file by inode and first bytes. Lines that were removed unread are
// counted by the heads of our engines' files; without heads they count as one, and it is said that nobody knows.
import {
  EXPORT_CHUNK_BYTES,
  EXPORT_HEAD_BYTES,
  EXPORT_HEAD_LINE_MAX_BYTES,
  EXPORT_LINE_MAX_BYTES,
} from '../../machines/limits.ts';
import {
  type ExportCursor,
  headDigest,
  lineCountOf,
  parseExportCursor,
  tailDigest,
} from './export-cursor.ts';
import type { ExportFile, ExportFiles, OpenExport } from './export-files.ts';
import { type LineCount, linesMissing, parseExportHead } from './export-head.ts';
import { cutLines } from './export-lines.ts';

export type { ExportCursor } from './export-cursor.ts';

export type ExportBatch = {
  readonly lines: readonly string[];
  /** What must be durable once these lines are; undefined while there is no export yet. */
  readonly cursor: ExportCursor | undefined;
  /** Lines known to be lost: too long, or removed before they were read. */
  readonly skippedLines: number;
  /** More than those may have been removed: no head of a file tells how many. */
  readonly isSkippedUnknown?: true;
  /** Lines that are no JSON object, and tails torn off by a crash. */
  readonly malformed: number;
};

export type ExportReader = {
  /** The next lines, at most `maxLines`; none when nothing new is complete. One call at a time. Rejects on a disk error. */
  readonly read: (maxLines: number) => Promise<ExportBatch>;
  readonly close: () => Promise<void>;
};

type Place = {
  handle: OpenExport;
  inode: string;
  offset: number;
  /** Whether the first line was looked at, which may be the head. */
  isBegun: boolean;
  /** Lines before the offset. */
  count: LineCount | undefined;
};
type Tally = { lines: string[]; skipped: number; malformed: number; isUnknown: boolean };
const NEWLINE = 0x0a;

/** A reader of the export at `path`, going on at `cursor` or, without one, at the oldest line there is. */
export function createExportReader(options: {
  readonly path: string;
  /** As stored; anything that is no cursor counts as none. */
  readonly cursor: unknown;
  readonly files: ExportFiles;
}): ExportReader {
  const { list, inodeOf, open } = options.files;
  let place: Place | undefined;
  let scanned = 0; // bytes after the offset already known to hold no newline
  let head = '';
  let headBytes = -1; // how many first bytes `head` covers
  // None once its bytes are gone: a new end at the same place is another place.
  let cursor = parseExportCursor(options.cursor);

  /** The lines before a file that was entered and is not begun; whether one before it is missing. */
  let before: LineCount | undefined;
  let isGone = false;
  /** Nobody has read of the export yet, or nobody knows of it any more. */
  let isFirst = false;

  async function leave(): Promise<void> {
    const left = place;
    place = undefined;
    scanned = 0;
    await left?.handle.close();
  }

  /** The file itself, not another that has its name by now. */
  async function openSame(file: ExportFile | undefined): Promise<OpenExport | undefined> {
    const handle = file === undefined ? undefined : await open(file.file);
    if (handle === undefined || handle.inode === file?.inode) return handle;
    await handle.close();
    return undefined;
  }

  function enter(handle: OpenExport, offset: number, count?: LineCount): Place {
    headBytes = -1;
    place = { handle, inode: handle.inode, offset, isBegun: offset > 0, count };
    return place;
  }

  /** Finds the cursor's file again, or the oldest one there is. */
  async function resume(): Promise<void> {
    const files = await list(options.path);
    const wanted = cursor;
    before = wanted === undefined ? undefined : lineCountOf(wanted);
    isGone = false;
    isFirst = wanted === undefined;
    const same = files.find((one) => one.inode === wanted?.inode);
    const found = await openSame(same);
    if (same !== undefined && found === undefined) return; // renamed meanwhile: it is looked for again
    if (wanted !== undefined && found !== undefined) {
      const here = enter(found, wanted.offset, before);
      if ((await headDigest(found, wanted.offset)) === wanted.head) {
        await goBackIfCut(here, wanted);
        return;
      }
      await leave();
    }
    const oldest = await openSame(files[0]);
    if (oldest === undefined) return;
    enter(oldest, 0);
    isGone = wanted !== undefined && (wanted.offset > 0 || before !== undefined);
  }

  // The file's end went back and was written anew: what stands before the offset now was never read. The whole file is
  // read again; what was sent before is known by its event id.
  async function goBackIfCut(here: Place, { offset, tail }: ExportCursor): Promise<void> {
    if (tail === undefined || (await tailDigest(here.handle, offset)) === tail) return;
    startAgain(here, undefined);
    cursor = undefined;
  }

  function startAgain(here: Place, count: LineCount | undefined): void {
    here.offset = 0;
    here.isBegun = false;
    before = count;
    scanned = 0;
    headBytes = -1;
  }

  /** Looks at a file's first line: what is missing before it is known now, or never. */
  function begin(here: Place, firstLine: string, tally: Tally): void {
    const head = parseExportHead(firstLine);
    const isMissing = isGone || (isFirst && head !== undefined && head.linesBefore > 0);
    const missing = linesMissing(before, head, isMissing);
    tally.skipped += missing.lines;
    tally.isUnknown ||= missing.isUnknown;
    here.isBegun = true;
    here.count = head && { line: head.linesBefore, run: head.run };
    if (isGone) cursor = undefined;
    isGone = false;
    isFirst = false;
  }

  /** At the end of a file that is no longer the live one: on to the next newer. False when this is the live file. */
  async function follow(here: Place, tally: Tally, tail: number): Promise<boolean> {
    const files = await list(options.path);
    const at = files.findIndex((one) => one.inode === here.inode);
    if (at === files.length - 1) return false;
    const next = await openSame(files[at + 1]);
    if (next === undefined) return false;
    if (tail > 0) tally.malformed += 1;
    before = here.isBegun ? plus(here.count, tail > 0 ? 1 : 0) : before;
    // Pruned under us: its successors may be gone as well.
    if (at === -1 && !isGone) {
      await moveCursor(here);
      if (cursor !== undefined) cursor = { ...cursor, ...before };
      isGone = true;
    }
    await leave();
    enter(next, 0);
    return true;
  }

  /** Takes what one chunk holds. Says how many bytes follow the last whole line; undefined asks to be called again. */
  async function take(here: Place, tally: Tally, linesMax: number): Promise<number | undefined> {
    const size = await here.handle.size();
    if (size < here.offset) startAgain(here, here.count); // truncated in place
    const from = here.offset + scanned;
    if (size <= from) return scanned;
    const start = scanned > EXPORT_LINE_MAX_BYTES ? from : here.offset;
    const length = Math.min(
      size - start,
      Math.max(EXPORT_CHUNK_BYTES, scanned + EXPORT_CHUNK_BYTES),
    );
    const buffer = Buffer.alloc(length);
    const bytesRead = await here.handle.read(buffer, start);
    const chunk = buffer.subarray(0, bytesRead);
    const firstEnd = here.isBegun ? -1 : chunk.indexOf(NEWLINE);
    if (!here.isBegun && (firstEnd >= 0 || bytesRead > EXPORT_HEAD_LINE_MAX_BYTES)) {
      begin(here, chunk.toString('latin1', 0, Math.max(0, firstEnd)), tally);
    }
    if (start > here.offset) {
      // Inside a line that is already too long: nothing of it is kept, only its end is looked for.
      const end = chunk.indexOf(NEWLINE);
      scanned = end === -1 ? scanned + bytesRead : 0;
      if (end === -1) return undefined;
      here.offset = start + end + 1;
      here.count = plus(here.count, 1);
      tally.skipped += 1;
      return undefined;
    }
    const cut = cutLines(chunk, linesMax - tally.lines.length, EXPORT_LINE_MAX_BYTES);
    for (const line of cut.lines) tally.lines.push(line);
    tally.skipped += cut.tooLong;
    tally.malformed += cut.malformed;
    here.count = plus(here.count, cut.lines.length + cut.tooLong + cut.malformed);
    here.offset += cut.consumed;
    scanned = cut.consumed === 0 ? bytesRead : 0;
    return undefined;
  }

  async function moveCursor({ handle, inode, offset, isBegun, count }: Place): Promise<void> {
    const covered = Math.min(offset, EXPORT_HEAD_BYTES);
    if (covered !== headBytes) head = await headDigest(handle, offset);
    headBytes = covered;
    if (cursor?.inode === inode && cursor.offset === offset && cursor.tail !== undefined) return;
    const tail = await tailDigest(handle, offset);
    cursor = { inode, offset, head, tail, ...(isBegun ? count : before) };
  }

  async function read(maxLines: number): Promise<ExportBatch> {
    const tally: Tally = { lines: [], skipped: 0, malformed: 0, isUnknown: false };
    if (place === undefined) await resume();
    while (place !== undefined && tally.lines.length < maxLines) {
      const here: Place = place;
      const tail = await take(here, tally, maxLines);
      if (tail === undefined) continue;
      if ((await inodeOf(options.path)) === here.inode) break;
      // Renamed away; what was written between our last read and the rename is still to be read.
      const size = await here.handle.size();
      if (size > here.offset + tail) continue;
      if (!(await follow(here, tally, tail))) break;
    }
    // Until it is known what is missing before this file, what comes back is the place before that.
    if (place !== undefined && !isGone) await moveCursor(place);
    return {
      lines: tally.lines,
      cursor,
      skippedLines: tally.skipped,
      malformed: tally.malformed,
      ...(tally.isUnknown ? { isSkippedUnknown: true } : {}),
    };
  }

  return { read, close: leave };
}

function plus(count: LineCount | undefined, lines: number): LineCount | undefined {
  return count && { line: count.line + lines, run: count.run };
}
