// The processes that are known, and the lines that tell of them.
import { constants } from 'node:os';
import { ignored, nodeName } from './engine-options.ts';
import { emit, flush, type Line } from './export-file.ts';
import type { Began } from './fork-counts.ts';
import { factsOf, linkOf, pidsOf, readProc, startTicks, statOf } from './proc-files.ts';
import { isoTime } from './wall-clock.ts';

export const PROCESSES_MAX = 65_536;
export const FORKS_MAX = 65_536;
const GONE_MAX = 8_192;
export const LISTENERS_MAX = 16_384;
export const ARGUMENTS_MAX = 4_096;

export type Proc = {
  readonly pid: number;
  readonly line: Line;
  /** The parent's line, not the parent: a chain of generations would never be freed. */
  readonly parent: Line | undefined;
  readonly seenMs: number;
  /** What tells two programs of one pid apart while polling. */
  readonly mark: string;
};
export type Sock = {
  family: string;
  protocol: string;
  saddr: string;
  daddr: string;
  sport: number;
  dport: number;
};

export const processes = new Map<number, Proc>();
const gone = new Map<number, Proc>();
export const forks = new Map<number, Proc | undefined>();
export const listeners = new Map<string, number>();

export function remember<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  const oldest = map.keys().next();
  if (!oldest.done) map.delete(oldest.value);
}

/** A title written over the arguments leaves blanks or NULs up to the old end: those are nobody's arguments. */
function wordsOf(cmdline: string): string[] {
  const words = cmdline.replace(/[\0\s]+$/, '').split('\0');
  return words.map((word) => word.replace(/\s+$/, ''));
}
function argumentsOf(words: readonly string[]): string {
  const quoted = words.map((word) => (word === '' || /\s/.test(word) ? `"${word}"` : word));
  return quoted.join(' ').slice(0, ARGUMENTS_MAX);
}

type Seen = { pid: number; us: number; filename?: string; parent: Line | undefined; flags: string };
/** Everything known about a process now: the trace's word first, /proc's where it still answers. */
export function describe(seen: Seen): Proc {
  const { pid, us, parent } = seen;
  // The arguments first: they are what is missed most when the process is gone a millisecond later.
  const said = readProc(`${pid}/cmdline`);
  const facts = said === undefined ? undefined : factsOf(pid);
  const cmdline = said ?? '';
  const words = cmdline === '' ? [] : wordsOf(cmdline);
  const cwd = facts === undefined ? undefined : linkOf(`${pid}/cwd`);
  const auid = facts === undefined ? undefined : readProc(`${pid}/loginuid`);
  const cgroup = facts === undefined ? undefined : readProc(`${pid}/cgroup`);
  const netns = facts === undefined ? undefined : linkOf(`${pid}/ns/net`)?.match(/\d+/)?.[0];
  const filename = seen.filename?.startsWith('/') ? seen.filename : undefined;
  const comm = () => readProc(`${pid}/comm`)?.trimEnd();
  const binary = filename ?? linkOf(`${pid}/exe`) ?? seen.filename ?? words[0] ?? comm() ?? '';
  const execId = Buffer.from(`${nodeName}:${us}000:${pid}`).toString('base64');
  const container = cgroup?.match(/[0-9a-f]{64}/)?.[0].slice(0, 31);
  const line: Line = { exec_id: execId, pid };
  if (facts !== undefined) line['uid'] = facts.uid;
  if (cwd !== undefined) line['cwd'] = cwd;
  if (binary !== '') line['binary'] = binary;
  if (words.length > 1) line['arguments'] = argumentsOf(words.slice(1));
  line['flags'] = cwd === '/' ? `${seen.flags} rootcwd` : seen.flags;
  line['start_time'] = isoTime(us);
  if (auid !== undefined) line['auid'] = Number(auid);
  if (container !== undefined) line['docker'] = container;
  if (parent !== undefined) line['parent_exec_id'] = parent['exec_id'];
  line['tid'] = pid;
  if (netns !== undefined) line['ns'] = { net: { inum: Number(netns) } };
  return { pid, line, parent, seenMs: us / 1_000, mark: cmdline.replace(/\0$/, '') };
}

export function withParent(proc: Proc): Line {
  return proc.parent ? { process: proc.line, parent: proc.parent } : { process: proc.line };
}

/** A process that was there before us, or that we know only by what it does. */
export function adopt(pid: number, depth = 0): Proc | undefined {
  const known = processes.get(pid);
  const facts = known ? undefined : factsOf(pid);
  if (known || facts === undefined) return known ?? forks.get(pid) ?? gone.get(pid);
  if (facts.tgid !== pid) return adopt(facts.tgid, depth + 1);
  const parent = facts.ppid > 0 && depth < 64 ? adopt(facts.ppid, depth + 1)?.line : undefined;
  const us = Number(startTicks(pid)) * 10_000;
  const proc = describe({ pid, us, parent, flags: forks.has(pid) ? 'clone' : 'procFS auid' });
  remember(processes, pid, proc, PROCESSES_MAX);
  return proc;
}

function existing(began: Began): Proc[] {
  const pids = pidsOf('/proc').filter((pid) => !ignored.has(pid));
  const before = pids.filter((pid) => Number(startTicks(pid)) <= began.ticks);
  return before.map((pid) => adopt(pid)).filter((proc) => proc !== undefined);
}

/** Learns who was there when the trace began: who ends before they are told can be asked nothing then. */
export function meetExisting(began: Began): void {
  existing(began);
}

/** Tells who was there when the trace began, at that time: what the trace has met since is told after it, in order. */
export function emitExisting(began: Began): void {
  for (const proc of existing(began)) emit('process_exec', withParent(proc), began.us);
  flush();
}

/** Forgets it as one that runs, and tells so unless that was told. */
export function emitExit(pid: number, us: number, wasTold = false): void {
  const proc = processes.get(pid);
  forks.delete(pid);
  if (proc === undefined) return;
  const code = Number(statOf(pid)[49] ?? 0); // only while it is a zombie
  processes.delete(pid);
  remember(gone, pid, proc, GONE_MAX);
  if (wasTold) return;
  const body = withParent(proc);
  if ((code & 0x7f) !== 0) body['signal'] = SIGNALS.get(code & 0x7f) ?? `SIG${code & 0x7f}`;
  if (code >> 8 !== 0) body['status'] = code >> 8;
  emit('process_exit', { ...body, time: isoTime(us) }, us);
}
// Reversed, so that of two names of one number the first one stays.
const SIGNALS = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

export function emitSocket(hook: string, pid: number, sock: Sock, us: number): void {
  const proc = adopt(pid);
  if (proc === undefined || ignored.has(proc.pid)) return;
  const arg: Line = { family: sock.family, type: 'SOCK_STREAM', protocol: sock.protocol };
  arg['saddr'] = sock.saddr;
  arg['daddr'] = sock.daddr;
  if (sock.sport !== 0) arg['sport'] = sock.sport;
  if (sock.dport !== 0) arg['dport'] = sock.dport;
  const called = { function_name: hook, args: [{ sock_arg: arg }], action: 'KPROBE_ACTION_POST' };
  emit('process_kprobe', { ...withParent(proc), ...called }, us);
}
