// The line every export file begins with: how many lines were written before it, so that a reader who finds files gone
// knows how many lines it never read. What is counted are the lines that stand there, whoever wrote them, also ones torn.
//
// A power loss takes lines back, and so does whoever removes files. So they are counted in runs, and one ends with the boot,
// or when less stands there than did: the head says which it is, and what stood in the export when it began.
import * as fs from 'node:fs';
import { bootId } from './proc-files.ts';
import { isoTime, monotonicUs } from './wall-clock.ts';

type Standing = {
  readonly lines: number;
  readonly run: string;
  readonly linesBeforeRun: number;
};

const KEY = Buffer.from('{"export_info":');
const HEAD =
  /^\{"export_info":\{"lines_before":"(\d{1,16})","run":"([^"\\]{1,80})","lines_before_run":"(\d{1,16})"\}/;
const HEAD_MAX_BYTES = 1_024;
const NEWLINE = 0x0a;
let run = '';
let linesBeforeRun = 0;
/** Before the newest file that is known. */
let linesKnown = 0;

function isHead(bytes: Buffer, at: number): boolean {
  const end = at + KEY.length;
  return bytes.length >= end && KEY.equals(bytes.subarray(at, end));
}

/** How many lines were written up to the end of a file; undefined when there is nothing in it. */
function standingOf(file: string): Standing | undefined {
  let bytes = Buffer.alloc(0);
  try {
    bytes = fs.readFileSync(file);
  } catch {
    return undefined;
  }
  const [, before = 0, told = '', beforeRun = 0] =
    HEAD.exec(bytes.toString('latin1', 0, HEAD_MAX_BYTES)) ?? [];
  let lines = Number(before);
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(NEWLINE, at);
    const end = found === -1 ? bytes.length : found;
    if (end > at && !isHead(bytes, at)) lines += 1;
    at = end + 1;
  }
  return bytes.length === 0 ? undefined : { lines, run: told, linesBeforeRun: Number(beforeRun) };
}

function newestStanding(files: readonly string[]): Standing | undefined {
  for (const file of files) {
    const standing = standingOf(file);
    if (standing !== undefined) return standing;
  }
  return undefined;
}

function beginRun(lines: number): void {
  run = `${bootId()} ${isoTime(monotonicUs())}`;
  linesBeforeRun = lines;
}

/** Goes on with the run of the newest file, the first of these, or begins one. Once a process. */
export function joinRun(files: readonly string[]): void {
  const last = newestStanding(files);
  linesKnown = last?.lines ?? 0;
  if (last?.run.startsWith(`${bootId()} `) === true) ({ run, linesBeforeRun } = last);
  else beginRun(linesKnown);
}

/** The head of a file that follows these, the newest first; empty ones tell nothing. */
export function headAfter(files: readonly string[]): string {
  const lines = newestStanding(files)?.lines ?? 0;
  // Somebody removed what was told before: less stands there now.
  if (lines < linesKnown) beginRun(lines);
  linesKnown = lines;
  const info = {
    lines_before: String(lines),
    run,
    lines_before_run: String(linesBeforeRun),
  };
  return `${JSON.stringify({ export_info: info, time: isoTime(monotonicUs()) })}\n`;
}

/** Whether a crash left nothing but the first part of a head. */
export function isTornHead(bytes: Buffer): boolean {
  if (bytes.length > HEAD_MAX_BYTES || bytes.includes(NEWLINE)) return false;
  return isHead(bytes, 0) || KEY.subarray(0, bytes.length).equals(bytes);
}
