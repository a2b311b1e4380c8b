// Cuts bytes into lines, pure: whole lines out, how far they reach, and what was too long or no JSON object at all. The
// head of a file is no line.
import { isExportHead } from './export-head.ts';

const NEWLINE = 0x0a;
const OPENING = 0x7b;
const CLOSING = 0x7d;

export type Cut = {
  readonly lines: readonly string[];
  /** Bytes from the start of the chunk that are dealt with; the rest waits for its newline. */
  readonly consumed: number;
  readonly tooLong: number;
  readonly malformed: number;
};

/** Takes at most `linesMax` whole lines from the chunk. An empty one is what ends a torn one, and counts as none. A line over `bytesMax`, or not framed by braces, is counted. */
export function cutLines(chunk: Buffer, linesMax: number, bytesMax: number): Cut {
  const lines: string[] = [];
  let consumed = 0;
  let tooLong = 0;
  let malformed = 0;
  while (lines.length < linesMax) {
    const end = chunk.indexOf(NEWLINE, consumed);
    if (end === -1) break;
    if (end - consumed > bytesMax) tooLong += 1;
    else if (isObject(chunk, consumed, end)) lines.push(chunk.toString('utf8', consumed, end));
    else if (end > consumed && !isExportHead(chunk, consumed)) malformed += 1;
    consumed = end + 1;
  }
  return { lines, consumed, tooLong, malformed };
}

function isObject(chunk: Buffer, start: number, end: number): boolean {
  if (isExportHead(chunk, start)) return false;
  return end - start >= 2 && chunk[start] === OPENING && chunk[end - 1] === CLOSING;
}
