// The engine that needs no compiler and no eBPF: a program of its own that writes Tetragon 1.7 JSON lines. decision: D18
//   tracefs  root on the host: a private trace instance tells every exec, fork, exit and TCP state change; /proc adds
//            the rest at once, and what /proc has already forgotten stays as the trace told it
//   polling  anyone: /proc and /proc/net/tcp are read again and again; short-lived processes are not seen, and it says so
// These files are unpacked away from this repository and import nothing but Node and each other. Its standard input must be
// held open by whoever starts it; when that ends it removes its trace instance and stops, so it never outlives its owner.
// Started beside another one it says that it is attached and waits for a line that says up to when that one told: its
// trace holds what came since. decision: D50
import { isBeside, pollMs } from './engine-options.ts';
import { counts, flush, type Line, openExport, skipUntil, tellLost } from './export-file.ts';
import { emitExisting } from './known-processes.ts';
import { pollProcesses, pollSockets } from './polling.ts';
import { readProc } from './proc-files.ts';
import {
  countRingLoss,
  EVENTS,
  type Hook,
  openInstance,
  removeInstance,
  SOCKETS,
  startReading,
  wakeReader,
} from './trace-instance.ts';
import { areConnectsWaiting, CONNECT_WAIT_US, lastStamp, tellConnects } from './trace-lines.ts';
import { followWallClock, monotonicUs } from './wall-clock.ts';

const VERSION = '1.7.0';
const HEARTBEAT_MS = 2_000;
const NET_POLL_MS = 500;
const STOP_WAIT_MS = 1_000;
const INPUT_MAX_CHARS = 4_096;
const WORD = /^take over after (\d+)$/m;

Error.stackTraceLimit = 0; // a vanished /proc entry is an everyday answer here, and stacks are what makes it dear
let stopping = false;
let isReading = false;
let hasExport = false;

function stop(): void {
  if (stopping) return;
  stopping = true;
  if (!isReading) leave();
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), STOP_WAIT_MS); // a reader that cannot be woken blocks any exit
  wakeReader();
}

function leave(): never {
  if (hasExport) {
    tellConnects(Number.MAX_SAFE_INTEGER);
    tellLost();
    say({ told_until: lastStamp(), written: counts.written, lost: counts.lost });
  }
  removeInstance();
  process.exit(0);
}

function say(word: Line): void {
  process.stdout.write(`${JSON.stringify(word)}\n`);
}

function startTracing(): void {
  isReading = true;
  startReading(() => stopping, leave);
  setInterval(() => {
    if (!areConnectsWaiting()) return;
    tellConnects(monotonicUs());
    flush();
  }, CONNECT_WAIT_US / 2_000);
}

/** Calls back with the time up to which the one before told, as soon as it has ended. */
function awaitWord(take: (toldUntilUs: number) => void): void {
  let input = '';
  let hasTaken = false;
  process.stdin.setEncoding('utf8').on('data', (text) => {
    input = (input + String(text)).slice(-INPUT_MAX_CHARS);
    const word = WORD.exec(input);
    if (word === null || hasTaken || stopping) return;
    hasTaken = true;
    take(Number(word[1]));
  });
}

type Began = { readonly us: number; readonly ticks: number };
function beginning(): Began {
  return { us: monotonicUs(), ticks: Number.parseFloat(readProc('uptime') ?? '') * 100 };
}

function begin(began: Began, hooks: Hook[], refused: string | undefined): void {
  openExport();
  hasExport = true;
  emitExisting(began.us, began.ticks);
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
  say({ engine: 'procfs', mode, version: VERSION, disabled_hooks: hooks, pid: process.pid });
  setInterval(() => {
    followWallClock();
    countRingLoss();
    tellLost();
    say({ alive: new Date().toISOString(), written: counts.written, lost: counts.lost });
  }, HEARTBEAT_MS);
}

function main(): void {
  const hooks: Hook[] = [];
  followWallClock();
  process.stdout.on('error', stop);
  process.stdin.on('end', stop).on('error', stop).resume();
  process.on('SIGTERM', stop).on('SIGINT', stop);
  const began = beginning();
  const refused = openInstance(hooks);
  const take = (toldUntilUs: number): void => {
    // Without a trace what there is now is all there is to tell.
    begin(refused === undefined ? began : beginning(), hooks, refused);
    if (refused !== undefined) return;
    skipUntil(toldUntilUs);
    startTracing();
  };
  if (!isBeside) {
    take(0);
    return;
  }
  awaitWord(take);
  say({ attached: EVENTS.length });
}
main();
