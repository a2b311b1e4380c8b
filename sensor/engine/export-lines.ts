// Cuts bytes into lines, pure: whole lines out, how far they reach, and what was too long or no JSON object at all.
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

/** Takes at most `linesMax` whole lines from the chunk. A line over `bytesMax`, or not framed by braces, is counted. */
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
    else if (end > consumed) malformed += 1; // an empty line is what ends a torn one: nothing was in it
    consumed = end + 1;
  }
  return { lines, consumed, tooLong, malformed };
}

function isObject(chunk: Buffer, start: number, end: number): boolean {
  return end - start >= 2 && chunk[start] === OPENING && chunk[end - 1] === CLOSING;
}
