// Reads a rotating JSON-lines export forward from a cursor and stores nothing: whoever processed the lines stores the
// cursor that came with them, in one step with what it made of them. decision: D13
//
// Rotation renames the file under the reader, so it keeps the file open, reads it to its end, and goes to the next newer
// one. A reader made from a stored cursor finds the file by inode and first bytes; when it is gone, the loss is counted.
import {
  EXPORT_CHUNK_BYTES,
  EXPORT_HEAD_BYTES,
  EXPORT_LINE_MAX_BYTES,
} from '../../machines/limits.ts';
import { type ExportCursor, headDigest, parseExportCursor, tailDigest } from './export-cursor.ts';
import type { ExportFile, ExportFiles, OpenExport } from './export-files.ts';
import { cutLines } from './export-lines.ts';

export type { ExportCursor } from './export-cursor.ts';

export type ExportBatch = {
  readonly lines: readonly string[];
  /** What must be durable once these lines are; undefined while there is no export yet. */
  readonly cursor: ExportCursor | undefined;
  /** Lines known to be lost: too long, or at least one for a file that vanished before it was read. */
  readonly skippedLines: number;
  /** Lines that are no JSON object, and tails torn off by a crash. */
  readonly malformed: number;
};

export type ExportReader = {
  /** The next lines, at most `maxLines`; none when nothing new is complete. One call at a time. Rejects on a disk error. */
  readonly read: (maxLines: number) => Promise<ExportBatch>;
  readonly close: () => Promise<void>;
};

type Place = { handle: OpenExport; inode: string; offset: number };
type Tally = { lines: string[]; skipped: number; malformed: number };

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

  async function leave(): Promise<void> {
    const left = place;
    place = undefined;
    scanned = 0;
    await left?.handle.close();
  }

  async function enter(file: ExportFile | undefined, offset: number): Promise<boolean> {
    const handle = file === undefined ? undefined : await open(file.file);
    if (handle === undefined) return false;
    place = { handle, inode: handle.inode, offset };
    headBytes = -1;
    return true;
  }

  /** Finds the cursor's file again, or the oldest one there is. */
  async function resume(tally: Tally): Promise<boolean> {
    const files = await list(options.path);
    const wanted = cursor;
    const same = files.find((one) => one.inode === wanted?.inode);
    if (wanted !== undefined && same !== undefined && (await enter(same, wanted.offset))) {
      const there = place === undefined ? '' : await headDigest(place.handle, wanted.offset);
      if (there === wanted.head) {
        await goBackIfCut(wanted);
        return true;
      }
      await leave();
    }
    if (!(await enter(files[0], 0))) return false;
    if (wanted !== undefined && wanted.offset > 0) tally.skipped += 1;
    cursor = undefined;
    return true;
  }

  // The file's end went back and was written anew: what stands before the offset now was never read. The whole file is
  // read again; what was sent before is known by its event id.
  async function goBackIfCut({ offset, tail }: ExportCursor): Promise<void> {
    if (place === undefined || tail === undefined) return;
    if ((await tailDigest(place.handle, offset)) === tail) return;
    place.offset = 0;
    cursor = undefined;
  }

  /** At the end of a file that is no longer the live one: on to the next newer. False when this is the live file. */
  async function follow(tally: Tally, tail: number): Promise<boolean> {
    const files = await list(options.path);
    const at = files.findIndex((one) => one.inode === place?.inode);
    if (at === files.length - 1) return false;
    if (at === -1) tally.skipped += 1; // pruned under us: its successors may be gone as well
    if (tail > 0) tally.malformed += 1;
    await leave();
    return enter(files[at + 1], 0);
  }

  /** Takes what one chunk holds. Says how many bytes follow the last whole line; undefined asks to be called again. */
  async function take(here: Place, tally: Tally, linesMax: number): Promise<number | undefined> {
    const size = await here.handle.size();
    if (size < here.offset) {
      here.offset = 0; // truncated in place: it starts again
      scanned = 0;
      headBytes = -1;
    }
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
    if (start > here.offset) {
      // Inside a line that is already too long: nothing of it is kept, only its end is looked for.
      const end = chunk.indexOf(0x0a);
      scanned = end === -1 ? scanned + bytesRead : 0;
      if (end === -1) return undefined;
      here.offset = start + end + 1;
      tally.skipped += 1;
      return undefined;
    }
    const cut = cutLines(chunk, linesMax - tally.lines.length, EXPORT_LINE_MAX_BYTES);
    for (const line of cut.lines) tally.lines.push(line);
    tally.skipped += cut.tooLong;
    tally.malformed += cut.malformed;
    here.offset += cut.consumed;
    scanned = cut.consumed === 0 ? bytesRead : 0;
    return undefined;
  }

  async function read(maxLines: number): Promise<ExportBatch> {
    const tally: Tally = { lines: [], skipped: 0, malformed: 0 };
    if (place === undefined) await resume(tally);
    while (place !== undefined && tally.lines.length < maxLines) {
      const here: Place = place;
      const tail = await take(here, tally, maxLines);
      if (tail === undefined) continue;
      if ((await inodeOf(options.path)) === here.inode) break;
      // Renamed away; what was written between our last read and the rename is still to be read.
      const size = await here.handle.size();
      if (size > here.offset + tail) continue;
      if (!(await follow(tally, tail))) break;
    }
    if (place !== undefined) {
      const { handle, inode, offset } = place;
      const covered = Math.min(offset, EXPORT_HEAD_BYTES);
      if (covered !== headBytes) head = await headDigest(handle, offset);
      headBytes = covered;
      if (cursor?.inode !== inode || cursor.offset !== offset || cursor.tail === undefined) {
        cursor = { inode, offset, head, tail: await tailDigest(handle, offset) };
      }
    }
    return {
      lines: tally.lines,
      cursor,
      skippedLines: tally.skipped,
      malformed: tally.malformed,
    };
  }

  return { read, close: leave };
}
