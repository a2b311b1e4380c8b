// The line an export file of our own engines begins with: how many lines stood in the export before the file. A reader that
// finds files gone takes from it how many lines it never read. It is no event and no line in that sum. decision: D48
//
// A power loss takes the end of an export, and the engine after it counts on from less than was read already. So lines are
// counted in runs: one lasts as long as nothing can have been taken back, and a head also tells what stood before its run.
import { EXPORT_RUN_MAX_CHARS } from '../../machines/limits.ts';

export type ExportHead = {
  /** Whole lines of all files before this one, since the export began. */
  readonly linesBefore: number;
  readonly run: string;
  readonly linesBeforeRun: number;
};
/** How many lines of the export stand before a place in it. */
export type LineCount = { readonly line: number; readonly run: string };
export type Missing = {
  readonly lines: number;
  /** At least so many, and nobody knows how many. */
  readonly isUnknown: boolean;
};

const START = Buffer.from('{"export_info":');
const HEAD =
  /^\{"export_info":\{"lines_before":"(\d{1,16})","run":"([^"\\]+)","lines_before_run":"(\d{1,16})"\}/;

/** Whether the line that begins there is a head, whole or not; in the middle of a file it tells nothing. */
export function isExportHead(bytes: Buffer, start: number): boolean {
  const end = start + START.length;
  return bytes.length >= end && bytes.compare(START, 0, START.length, start, end) === 0;
}

/** The head that a file's first line is; undefined when it is none. Never throws. */
export function parseExportHead(line: string): ExportHead | undefined {
  const [, before = '', run = '', beforeRun = ''] = HEAD.exec(line) ?? [];
  const [linesBefore, linesBeforeRun] = [Number(before), Number(beforeRun)];
  if (run === '' || run.length > EXPORT_RUN_MAX_CHARS || !Number.isSafeInteger(linesBefore))
    return undefined;
  if (!Number.isSafeInteger(linesBeforeRun) || linesBeforeRun > linesBefore) return undefined;
  return { linesBefore, run, linesBeforeRun };
}

/**
 * The lines between where the next file should begin and where it does; undefined stands for what no head told.
 * `isGone` says that a file is missing between them: then what cannot be told counts as one line at least.
 */
export function linesMissing(
  expected: LineCount | undefined,
  head: ExportHead | undefined,
  isGone: boolean,
): Missing {
  const untold: Missing = { lines: isGone ? 1 : 0, isUnknown: isGone };
  if (expected === undefined || head === undefined) return untold;
  const isSameRun = expected.run === head.run;
  // An engine of another run may have gone on with the file that was read to its end.
  if (!isSameRun && !isGone) return untold;
  // What was read and then taken back does not stand for lines that were written since.
  const from = isSameRun ? expected.line : Math.min(expected.line, head.linesBeforeRun);
  const lines = head.linesBefore - from;
  const hasGoneBack = from < expected.line || lines < 0;
  if (lines > 0) return { lines, isUnknown: hasGoneBack };
  return hasGoneBack ? untold : { lines: 0, isUnknown: false };
}
