// A sign of life beside the export, while this engine runs: which processes it has told the beginning of. However it ends,
// it leaves the last one there, and the next counts from it how many began while nobody watched. decision: D48;
// invariant: I19
import * as fs from 'node:fs';
import { exportFile } from './engine-options.ts';
import { type Began, begunBetween, forksNow, lastPid, threadsSince } from './fork-counts.ts';
import { bootId } from './proc-files.ts';
import { isoTime, monotonicUs } from './wall-clock.ts';

/** Nobody watched, for a time that is told with what began in it. */
export type Gap = {
  readonly gapMs: number;
  /** At most how many began; threads that have ended are among them. */
  readonly unseen: number;
  /** What the one before counted as lost and could not tell. */
  readonly owed: number;
  readonly unwatched?: {
    readonly since: string;
    readonly until: string;
    readonly how: 'killed' | 'stopped' | 'rebooted';
  };
};
type Sign = {
  readonly boot: string;
  readonly us: number;
  readonly pid: number;
  readonly forks: number;
  readonly wallMs: number;
  readonly hasEnded: boolean;
  /** Losses that no line tells yet: a full disk refused it. */
  readonly untold: number;
};
const { O_RDWR, O_CREAT, O_NOFOLLOW } = fs.constants;
const NO_GAP: Gap = { gapMs: 0, unseen: 0, owed: 0 };
const FILE = `${exportFile}.sign`;
// Older builds write the first three alone, or the first line.
const SIGN =
  /^([0-9a-f-]{36}) (\d{1,15}) (\d{1,10})(?: (\d{1,15}) (\d{1,15}) ([01]))?\n(?:(\d{1,15})\n)?/;
const FORKS_EVERY = 4; // signs: what tells them sums up over every interrupt of the machine
let fd = -1;

function readSign(): Sign | undefined {
  let found: RegExpExecArray | null = null;
  try {
    found = SIGN.exec(fs.readFileSync(FILE, 'latin1'));
  } catch {} // none is left behind
  const [, boot, us, pid, forks, wallMs, ended, untold] = found ?? [];
  if (boot === undefined) return undefined;
  const numbers = { us: Number(us), pid: Number(pid), forks: Number(forks ?? 0) };
  const times = { wallMs: Number(wallMs ?? 0), hasEnded: ended === '1' };
  return { boot, ...numbers, ...times, untold: Number(untold ?? 0) };
}

/** What the one before left behind, and nobody has counted yet; `began` is when this one began to see. */
export function readGap(began: Began): Gap {
  const sign = readSign();
  if (sign === undefined) return NO_GAP;
  const until = isoTime(began.us);
  const { untold: owed } = sign;
  if (sign.boot !== bootId()) {
    const since = sign.wallMs > 0 ? new Date(sign.wallMs).toISOString() : isoTime(0);
    const gapMs = Math.max(0, Date.parse(until) - Date.parse(since));
    const unseen = Math.max(0, began.forks - threadsSince(0));
    return { gapMs, unseen, owed, unwatched: { since, until, how: 'rebooted' } };
  }
  if (sign.us >= began.us) return { ...NO_GAP, owed };
  const how = sign.hasEnded ? 'stopped' : 'killed';
  const gapMs = Math.max(1, Math.round((began.us - sign.us) / 1_000));
  const now = { pid: began.lastPid, forks: began.forks };
  const unseen = Math.max(0, begunBetween(sign, now) - threadsSince(sign.us));
  return { gapMs, unseen, owed, unwatched: { since: isoTime(sign.us), until, how } };
}

/** Of what has begun shortly before the program may not have been told yet: the numbers of a sign before are kept. */
let pidBefore = 0;
let forksTold = 0;
let forksBefore = 0;
let signs = 0;
/** Everything up to now has been told, or is among the `untold`, and `pid` is who began last. Never throws. */
export function signLife(pid: number, began: Began, untold: number): void {
  if (signs % FORKS_EVERY === 0) {
    forksTold = forksBefore || began.forks;
    forksBefore = forksNow();
  }
  signs += 1;
  writeSign(pidBefore || began.lastPid, forksTold, { hasEnded: false, untold });
  pidBefore = pid;
}

let endForks = 0;
let endPid = 0;
/** From now on nothing new is told: what has begun up to here is, as soon as this engine has ended. */
export function beginToEnd(): void {
  [endForks, endPid] = [forksNow(), lastPid()];
}

/** Everything that began before the end was asked for has been told, or is among the `untold`. */
export function leaveSign(untold: number): void {
  writeSign(endPid, endForks, { hasEnded: true, untold });
}

function writeSign(
  pid: number,
  forks: number,
  { hasEnded, untold }: Pick<Sign, 'hasEnded' | 'untold'>,
): void {
  const wide = (count: number, digits: number): string => String(count).padStart(digits, '0');
  const numbers = [wide(monotonicUs(), 15), wide(pid, 10), wide(forks, 15), wide(Date.now(), 15)];
  try {
    if (fd < 0) fd = fs.openSync(FILE, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600);
    // Of one length, in one write: a kill leaves the one before or this one.
    const first = `${bootId()} ${numbers.join(' ')} ${hasEnded ? 1 : 0}`;
    fs.writeSync(fd, `${first}\n${wide(untold, 15)}\n`, 0);
  } catch {} // a disk that refuses is told where lines are written; the next sign may be taken
}
