// A sign of life beside the export, while this engine runs: which processes it has told the beginning of. One that is
// killed leaves it there, and the next counts from it how many began while nobody watched. decision: D48; invariant: I19
import * as fs from 'node:fs';
import { exportFile } from './engine-options.ts';
import type { Began } from './known-processes.ts';
import { bootId, readProc } from './proc-files.ts';

export type Gap = { readonly gapMs: number; readonly unseen: number };
const { O_RDWR, O_CREAT, O_NOFOLLOW } = fs.constants;
const NO_GAP: Gap = { gapMs: 0, unseen: 0 };
const FILE = `${exportFile}.sign`;
const SIGN = /^([0-9a-f-]{36}) (\d{1,15}) (\d{1,10})\n/;
const PID_MAX_DEFAULT = 32_768;
let fd = -1;

/** The number the kernel gave last, to a process or a thread. */
export const lastPid = (): number => Number(readProc('loadavg')?.trim().split(' ').at(-1) ?? 0);

/** What one that was killed left behind, and nobody has counted yet; `began` is when this one began to see. */
export function readGap(began: Began): Gap {
  let sign: RegExpExecArray | null = null;
  try {
    sign = SIGN.exec(fs.readFileSync(FILE, 'latin1'));
  } catch {} // none is left behind
  const [, boot, us, before] = sign ?? [];
  if (boot === undefined || boot !== bootId() || Number(us) >= began.us) return NO_GAP;
  const now = began.lastPid;
  const most = Number(readProc('sys/kernel/pid_max') ?? PID_MAX_DEFAULT);
  const from = Number(before);
  const unseen = now >= from ? now - from : now + Math.max(0, most - from);
  return { gapMs: Math.round((began.us - Number(us)) / 1_000), unseen };
}

/** Of what has begun shortly before the program may not have been told yet: the number of the sign before is kept. */
let pidBefore = 0;
/** Everything up to this time has been told, and `pid` is who began last. Never throws. */
export function signLife(us: number, pid: number): void {
  const [told, time] = [String(pidBefore || pid).padStart(10, '0'), String(us).padStart(15, '0')];
  pidBefore = pid;
  try {
    if (fd < 0) fd = fs.openSync(FILE, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
    // Of one length, in one write: a kill leaves the one before or this one.
    fs.writeSync(fd, `${bootId()} ${time} ${told}\n`, 0);
  } catch {} // a disk that refuses is told where lines are written; the next sign may be taken
}

/** What was to be told has been. */
export function leaveSign(): void {
  fs.rmSync(FILE, { force: true });
}
