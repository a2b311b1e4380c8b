// The engine that needs no compiler and no eBPF: a program of its own that writes Tetragon 1.7 JSON lines. decision: D18
//   tracefs  root on the host: a private trace instance tells every exec, fork, exit and TCP state change; /proc adds
//            the rest at once, and what /proc has already forgotten stays as the trace told it
//   polling  anyone: /proc and /proc/net/tcp are read again and again; short-lived processes are not seen, and it says so
// These files are unpacked away from this repository and import nothing but Node and each other. Its standard input must be
// held open by whoever starts it; when that ends it removes its trace instance and stops, so it never outlives its owner.
// Started beside another one it says that it is attached and waits for the word of what that one told last: its trace
// holds what came since. decision: D50
import { isBeside, pollMs } from './engine-options.ts';
import { beginExport, counts, flush, type Line, noteGap, tellLost } from './export-file.ts';
import { type Began, forksNow, lastPid } from './fork-counts.ts';
import { emitExisting, meetExisting } from './known-processes.ts';
import { beginToEnd, type Gap, leaveSign, readGap, signLife } from './last-sign.ts';
import { countUnseen, pollProcesses, pollSockets } from './polling.ts';
import { readProc } from './proc-files.ts';
import {
  countRingLoss,
  EVENTS,
  type Hook,
  markEnd,
  openInstance,
  removeInstance,
  SOCKETS,
  startReading,
} from './trace-instance.ts';
import {
  areConnectsWaiting,
  CONNECT_WAIT_US,
  handover,
  hasMetEnd,
  lastForked,
  tellConnects,
} from './trace-lines.ts';
import { followWallClock, monotonicUs } from './wall-clock.ts';

const VERSION = '1.7.0';
const HEARTBEAT_MS = 2_000;
const SIGN_MS = 250;
const NET_POLL_MS = 500;
const STOP_WAIT_MS = 1_000;
const DRAIN_WAIT_MS = 2_500;

Error.stackTraceLimit = 0; // a vanished /proc entry is an everyday answer here, and stacks are what makes it dear
let stopping = false;
let drainUntilMs = 0;
let isReading = false;
let hasExport = false;
let isPolling = false;

function stop(): void {
  if (stopping) return;
  stopping = true;
  beginToEnd();
  drainUntilMs = performance.now() + DRAIN_WAIT_MS;
  if (!isReading) leave();
  // A reader that cannot be woken blocks any exit.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), STOP_WAIT_MS + DRAIN_WAIT_MS);
  markEnd();
}

function leave(): never {
  if (hasExport) {
    tellConnects(Number.MAX_SAFE_INTEGER);
    if (isPolling) countUnseen();
    leaveSign(tellLost());
    say({ ...handover.lastTold(), written: counts.written, lost: counts.lost });
  }
  removeInstance();
  process.exit(0);
}

function say(word: Line): void {
  process.stdout.write(`${JSON.stringify(word)}\n`);
}

/** What happened before the end was asked for is read to its last event, as far as there is time for it. */
const isOver = (): boolean => stopping && (hasMetEnd() || performance.now() > drainUntilMs);

function startTracing(): void {
  isReading = true;
  startReading(isOver, leave);
  setInterval(() => {
    if (!areConnectsWaiting()) return;
    tellConnects(monotonicUs());
    flush();
  }, CONNECT_WAIT_US / 2_000);
}

/** Calls back as soon as the one before has ended and what it told last is known. */
function awaitWord(take: () => void): void {
  let hasTaken = false;
  process.stdin.setEncoding('utf8').on('data', (text) => {
    if (hasTaken || stopping || !handover.hear(String(text))) return;
    hasTaken = true;
    take();
  });
}

function beginning(): Began {
  const ticks = Number.parseFloat(readProc('uptime') ?? '') * 100;
  return { us: monotonicUs(), ticks, lastPid: lastPid(), forks: forksNow() };
}

/**
 * Nobody watched since the one before ended: what began meanwhile is counted, and told or owed when this one signs in its
 * place, or it would be forgotten when this one is killed.
 */
function followSigns(began: Began): Gap {
  const gap = readGap(began);
  counts.lost += gap.unseen + gap.owed;
  noteGap(gap.unwatched);
  const sign = (): void => {
    const untold = tellLost();
    signLife(isPolling ? lastPid() : lastForked() || began.lastPid, began, untold);
  };
  sign();
  setInterval(sign, SIGN_MS);
  return gap;
}

function begin(began: Began, hooks: Hook[], refused: string | undefined): void {
  beginExport();
  hasExport = true;
  isPolling = refused !== undefined;
  const gap = followSigns(began);
  emitExisting(began);
  pollSockets(true);
  if (refused === undefined) {
    hooks.push({
      hook: 'process_exit.status',
      reason: 'exit codes are seen only before the parent has read them',
    });
  } else {
    hooks.push({
      hook: 'sched_process_exec',
      reason: `short-lived processes are not seen: ${refused}`,
      missing: true,
    });
    const brief = 'connections shorter than the poll, or of other network namespaces, are not seen';
    const others = process.getuid?.() === 0 ? '' : "; other users' connections are not seen";
    hooks.push({ hook: SOCKETS, reason: `${brief}${others}` });
    setInterval(pollProcesses, pollMs);
  }
  if (refused !== undefined || hooks.some(({ hook }) => hook === SOCKETS)) {
    setInterval(() => pollSockets(false), NET_POLL_MS);
  }
  const mode = refused === undefined ? 'tracefs' : 'polling';
  const self = { mode, version: VERSION, pid: process.pid, gap_ms: gap.gapMs, lost: counts.lost };
  const { unwatched } = gap;
  say({ engine: 'procfs', ...self, disabled_hooks: hooks, ...(unwatched && { unwatched }) });
  setInterval(() => {
    followWallClock();
    if (isPolling) countUnseen();
    else countRingLoss();
    tellLost();
    say({ alive: new Date().toISOString(), written: counts.written, lost: counts.lost });
  }, HEARTBEAT_MS);
}

async function main(): Promise<void> {
  const hooks: Hook[] = [];
  followWallClock();
  process.stdout.on('error', stop);
  process.stdin.on('end', stop).on('error', stop).resume();
  process.on('SIGTERM', stop).on('SIGINT', stop);
  const refused = await openInstance(hooks);
  // After it: whoever began before is found in /proc, whoever begins later is in the trace.
  const began = beginning();
  const take = (): void => {
    // Without a trace what there is now is all there is to tell.
    begin(refused === undefined ? began : beginning(), hooks, refused);
    if (refused === undefined) startTracing();
  };
  if (!isBeside) {
    take();
    return;
  }
  awaitWord(take);
  meetExisting(began);
  say({ attached: EVENTS.length });
}
void main();
