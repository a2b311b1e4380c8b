// The export file: whole lines only, lumberjack's rotation, mode 600.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { exportFile, maxBackups, maxBytes, nodeName } from './engine-options.ts';
import { headAfter, isTornHead, joinRun } from './export-head.ts';
import { isoTime, monotonicUs } from './wall-clock.ts';

export type Line = Record<string, unknown>;
/** Lines so far; those that were lost, here or before they became lines; how many of these in the kernel's ring. */
export const counts = { lost: 0, lostInKernel: 0, written: 0 };
let lostTold = 0;
let gapUntold: Line | undefined;
/** Nobody watched for this time; told with the losses. */
export function noteGap(unwatched: Line | undefined): void {
  gapUntold = unwatched;
}
let lostInKernelTold = 0;
let exportFd = -1;
let exportBytes = 0;
let outbox: string[] = [];
const TAIL_BYTES = 1_024;

/** Opens the export, once a process. */
export function beginExport(): void {
  openExport();
  joinRun(filesFromNewest());
}

function openExport(): void {
  fs.mkdirSync(path.dirname(exportFile), { recursive: true, mode: 0o700 });
  exportFd = fs.openSync(exportFile, 'a+', 0o600);
  exportBytes = fs.fstatSync(exportFd).size;
  const last = Buffer.alloc(TAIL_BYTES);
  if (exportBytes === 0) return;
  const tail = Math.min(exportBytes, TAIL_BYTES);
  fs.readSync(exportFd, last, 0, tail, exportBytes - tail);
  if (tail === exportBytes && isTornHead(last.subarray(0, tail))) empty();
  else if (last[tail - 1] !== 0x0a) exportBytes += fs.writeSync(exportFd, '\n'); // ends a line torn by a crash
}

/** A file without its whole head holds nothing: it begins anew with the next lines. */
function empty(): void {
  fs.ftruncateSync(exportFd, 0);
  exportBytes = 0;
}

const { dir: exportDir, name: exportName, ext: exportExt } = path.parse(exportFile);
function backupName(ms: number): string {
  return `${exportName}-${new Date(ms).toISOString().slice(0, 23).replaceAll(':', '-')}${exportExt}`;
}
function backupTime(file: string): number {
  const time = file.slice(exportName.length + 1, -exportExt.length || undefined);
  const ms = Date.parse(time.replace(/T(\d\d)-(\d\d)-(.*)$/, 'T$1:$2:$3Z'));
  return Number.isFinite(ms) && backupName(ms) === file ? ms : Number.NaN;
}
function backupTimes(): number[] {
  const times = fs.readdirSync(exportDir).map(backupTime).filter(Number.isFinite);
  return times.sort((one, other) => one - other);
}
function filesFromNewest(): string[] {
  const backups = backupTimes().map((ms) => path.join(exportDir, backupName(ms)));
  return [...backups, exportFile].reverse();
}

/** What fails leaves the open file as it is; the next lines try again. */
function rotate(): void {
  // After every name there is, also when the clock was set back: readers take the names in their order.
  const at = Math.max(Date.now(), (backupTimes().at(-1) ?? 0) + 1);
  const full = exportFd;
  if (fs.existsSync(exportFile)) fs.renameSync(exportFile, path.join(exportDir, backupName(at)));
  openExport();
  fs.closeSync(full);
  for (const ms of backupTimes().slice(0, -maxBackups))
    fs.rmSync(path.join(exportDir, backupName(ms)), { force: true });
}

function write(bytes: Buffer, wrote: (step: number) => void): void {
  for (let done = 0; done < bytes.length; ) {
    const step = fs.writeSync(exportFd, bytes, done);
    exportBytes += step;
    done += step;
    wrote(step);
  }
}

function writeHead(): void {
  try {
    write(Buffer.from(headAfter(filesFromNewest())), () => undefined);
  } catch (error) {
    empty();
    throw error;
  }
}

let isTorn = false; // a write that failed left the first part of a line
export function flush(): void {
  if (outbox.length === 0) return;
  const lines = outbox;
  outbox = [];
  const lead = isTorn ? '\n' : '';
  const bytes = Buffer.from(lead + lines.join(''));
  let done = 0;
  try {
    if (exportBytes > 0 && exportBytes + bytes.length > maxBytes) rotate();
    if (exportBytes === 0) writeHead();
    write(bytes, (step) => {
      done += step;
    });
    isTorn = false;
    counts.written += lines.length;
  } catch (error) {
    if (done > 0) isTorn = bytes[done - 1] !== 0x0a;
    // A line that lacks its end alone is whole as soon as the next write begins.
    const whole = bytes.toString('latin1', lead.length, done + 1).split('\n').length - 1;
    counts.written += whole;
    counts.lost += lines.length - whole; // a full disk loses lines, not the engine
    process.stderr.write(
      `${JSON.stringify({ error: 'export_write_failed', reason: String(error) })}\n`,
    );
  }
}

export function emit(key: string, body: Line, us: number): void {
  outbox.push(`${JSON.stringify({ [key]: body, node_name: nodeName, time: isoTime(us) })}\n`);
  if (outbox.length >= 512) flush();
}

/**
 * Writes what waits, then what was lost; a line of losses that the disk refuses is no event, and is told again. Answers
 * how many no line tells yet.
 */
export function tellLost(): number {
  flush();
  if (counts.lost === lostTold && gapUntold === undefined) return 0;
  const { lost, lostInKernel } = counts;
  const info: Line = { number_of_dropped_process_events: String(lost - lostTold) };
  const inKernel = lostInKernel - lostInKernelTold;
  if (inKernel > 0) info['number_of_kernel_dropped_events'] = String(inKernel);
  if (gapUntold !== undefined) info['unwatched'] = gapUntold;
  emit('rate_limit_info', info, monotonicUs());
  flush();
  const isTold = counts.lost === lost;
  if (isTold) [lostTold, lostInKernelTold, gapUntold] = [lost, lostInKernel, undefined];
  else counts.lost = lost;
  return lost - lostTold;
}
