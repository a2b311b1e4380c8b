// The engine that needs no compiler and no eBPF: a program of its own that writes Tetragon 1.7 JSON lines. decision: D18
//   tracefs  root on the host: a private trace instance tells every exec, fork, exit and TCP state change; /proc adds
//            the rest at once, and what /proc has already forgotten stays as the trace told it
//   polling  anyone: /proc and /proc/net/tcp are read again and again; short-lived processes are not seen, and it says so
// One file on purpose: it is unpacked away from this repository and imports nothing but Node. Its standard input must be
// held open by whoever starts it; when that ends it removes its trace instance and stops, so it never outlives its owner.
import * as fs from 'node:fs';
import { constants, hostname } from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';

const VERSION = '1.7.0';
const HEARTBEAT_MS = 2_000;
const RING_KIB_PER_CPU = 4_096;
const PROCESSES_MAX = 65_536;
const FORKS_MAX = 65_536;
const GONE_MAX = 8_192;
const LISTENERS_MAX = 16_384;
const CONNECTS_WAITING_MAX = 4_096;
const CONNECT_WAIT_US = 200_000;
const ARGUMENTS_MAX = 4_096;
const NET_POLL_MS = 500;
const RECHECK_PER_POLL = 64;
const YOUNG_MS = 1_000;
const STOP_WAIT_MS = 1_000;
const READ_BYTES = 65_536;
const HOST_PID_NAMESPACE = 'pid:[4026531836]';
const TRACE_ROOTS = ['/sys/kernel/tracing', '/sys/kernel/debug/tracing'];
const INSTANCE = /^service-sensor-(\d+)-(\d+)$/;

type Hook = { readonly hook: string; readonly reason: string };
type Line = Record<string, unknown>;
type Proc = {
  readonly pid: number;
  readonly line: Line;
  /** The parent's line, not the parent: a chain of generations would never be freed. */
  readonly parent: Line | undefined;
  readonly seenMs: number;
  /** What tells two programs of one pid apart while polling. */
  readonly mark: string;
};
type Sock = {
  family: string;
  protocol: string;
  saddr: string;
  daddr: string;
  sport: number;
  dport: number;
};
type Waiting = { readonly pid: number; readonly us: number; readonly sock: Sock };
type Facts = { readonly ppid: number; readonly tgid: number; readonly uid: number };

Error.stackTraceLimit = 0; // a vanished /proc entry is an everyday answer here, and stacks are what makes it dear
const { values: options } = parseArgs({
  options: {
    'export-filename': { type: 'string' },
    'export-file-max-size-mb': { type: 'string', default: '10' },
    'export-file-max-backups': { type: 'string', default: '5' },
    'node-name': { type: 'string', default: hostname() },
    'poll-ms': { type: 'string', default: '100' },
    'ignore-pid': { type: 'string', multiple: true, default: [] },
    mode: { type: 'string', default: 'auto' },
  },
});
const exportFile = path.resolve(options['export-filename'] ?? 'events.log');
const maxBytes = Math.max(0.001, Number(options['export-file-max-size-mb'])) * 1_048_576;
const maxBackups = Math.max(1, Number(options['export-file-max-backups']));
const nodeName = options['node-name'];
const pollMs = Math.max(10, Number(options['poll-ms']));
const ignored = new Set([process.pid, ...options['ignore-pid'].map(Number)]);

const processes = new Map<number, Proc>();
const gone = new Map<number, Proc>();
const forks = new Map<number, Proc | undefined>();
const listeners = new Map<string, number>();
let lost = 0;
let lostTold = 0;
let written = 0;
let clockOffsetUs = 0;

function remember<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= max) return;
  const oldest = map.keys().next();
  if (!oldest.done) map.delete(oldest.value);
}

// --- time: trace stamps and ours are CLOCK_MONOTONIC; the wall clock is followed, small corrections are not
const monotonicUs = (): number => Math.floor(Number(process.hrtime.bigint()) / 1_000);
function followWallClock(): void {
  const offset = Date.now() * 1_000 + 500 - monotonicUs();
  if (Math.abs(offset - clockOffsetUs) > 2_000) clockOffsetUs = offset;
}
function isoTime(us: number): string {
  const wall = us + clockOffsetUs;
  const seconds = new Date(Math.floor(wall / 1_000)).toISOString().slice(0, 19);
  return `${seconds}.${String(wall % 1_000_000).padStart(6, '0')}000Z`;
}

// --- the export file: whole lines only, lumberjack's rotation, mode 600
let exportFd = -1;
let exportBytes = 0;
let outbox: string[] = [];

function openExport(): void {
  fs.mkdirSync(path.dirname(exportFile), { recursive: true, mode: 0o700 });
  exportFd = fs.openSync(exportFile, 'a+', 0o600);
  exportBytes = fs.fstatSync(exportFd).size;
  const last = Buffer.alloc(1);
  if (exportBytes === 0) return;
  fs.readSync(exportFd, last, 0, 1, exportBytes - 1);
  if (last[0] !== 0x0a) exportBytes += fs.writeSync(exportFd, '\n'); // ends a line torn by a crash
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

let isTorn = false; // a write that failed left the first part of a line
function flush(): void {
  if (outbox.length === 0) return;
  const lines = outbox;
  outbox = [];
  const lead = isTorn ? '\n' : '';
  const bytes = Buffer.from(lead + lines.join(''));
  let done = 0;
  try {
    if (exportBytes > 0 && exportBytes + bytes.length > maxBytes) rotate();
    while (done < bytes.length) {
      const step = fs.writeSync(exportFd, bytes, done);
      exportBytes += step;
      done += step;
    }
    isTorn = false;
    written += lines.length;
  } catch (error) {
    if (done > 0) isTorn = bytes[done - 1] !== 0x0a;
    // A line that lacks its end alone is whole as soon as the next write begins.
    const whole = bytes.toString('latin1', lead.length, done + 1).split('\n').length - 1;
    written += whole;
    lost += lines.length - whole; // a full disk loses lines, not the engine
    process.stderr.write(
      `${JSON.stringify({ error: 'export_write_failed', reason: String(error) })}\n`,
    );
  }
}

function emit(key: string, body: Line, us: number): void {
  outbox.push(`${JSON.stringify({ [key]: body, node_name: nodeName, time: isoTime(us) })}\n`);
  if (outbox.length >= 512) flush();
}

/** Writes what waits, then what was lost; a line of losses that the disk refuses is no event, and is told again. */
function tellLost(): void {
  flush();
  if (lost === lostTold) return;
  const all = lost;
  const dropped = String(all - lostTold);
  emit('rate_limit_info', { number_of_dropped_process_events: dropped }, monotonicUs());
  flush();
  if (lost === all) lostTold = all;
  else lost = all;
}

// --- /proc
const scratch = Buffer.alloc(READ_BYTES);
function readProc(file: string): string | undefined {
  let fd = -1;
  try {
    fd = fs.openSync(`/proc/${file}`, 'r');
    return scratch.toString('utf8', 0, fs.readSync(fd, scratch, 0, READ_BYTES, 0));
  } catch {
    return undefined;
  } finally {
    if (fd >= 0) fs.closeSync(fd);
  }
}
function linkOf(file: string): string | undefined {
  try {
    return fs.readlinkSync(`/proc/${file}`);
  } catch {
    return undefined;
  }
}
function pidsOf(directory: string): number[] {
  try {
    return fs.readdirSync(directory).map(Number).filter(Number.isSafeInteger);
  } catch {
    return [];
  }
}
function factsOf(pid: number): Facts | undefined {
  const status = readProc(`${pid}/status`);
  const found = status?.match(/\nTgid:\t(\d+)\n[\s\S]*?\nPPid:\t(\d+)\n[\s\S]*?\nUid:\t\d+\t(\d+)/);
  return found
    ? { tgid: Number(found[1]), ppid: Number(found[2]), uid: Number(found[3]) }
    : undefined;
}
/** Fields of /proc/<pid>/stat from the state on (the name before it may hold anything, so it is cut at the last ')'). */
function statOf(pid: number): string[] {
  const stat = readProc(`${pid}/stat`) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
const startTicks = (pid: number): string => statOf(pid)[19] ?? '0';

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
function describe(seen: Seen): Proc {
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

function withParent(proc: Proc): Line {
  return proc.parent ? { process: proc.line, parent: proc.parent } : { process: proc.line };
}

/** A process that was there before us, or that we know only by what it does. */
function adopt(pid: number, depth = 0): Proc | undefined {
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

/** Tells who was there when the trace began, at that time: what the trace has met since is told after it, in order. */
function emitExisting(beganUs: number, beganTicks: number): void {
  for (const pid of pidsOf('/proc')) {
    if (ignored.has(pid) || Number(startTicks(pid)) > beganTicks) continue;
    const proc = adopt(pid);
    if (proc !== undefined) emit('process_exec', withParent(proc), beganUs);
  }
  flush();
}

function emitExit(pid: number, us: number): void {
  const proc = processes.get(pid);
  forks.delete(pid);
  if (proc === undefined) return;
  const code = Number(statOf(pid)[49] ?? 0); // only while it is a zombie
  processes.delete(pid);
  remember(gone, pid, proc, GONE_MAX);
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

function emitSocket(hook: string, pid: number, sock: Sock, us: number): void {
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

// --- tracefs mode
const EVENTS = ['sched/sched_process_fork', 'sched/sched_process_exec', 'sched/sched_process_exit'];
const SOCKETS = 'sock/inet_sock_set_state';
// connects (2 = SYN_SENT), accepts (3 = SYN_RECV to 1 = ESTABLISHED), listens and their end (10 = LISTEN)
const SOCKET_FILTER =
  'newstate == 2 || oldstate == 2 || newstate == 10 || oldstate == 10 || (oldstate == 3 && newstate == 1)';
// The name before the pid may hold anything; it has at most 15 bytes, too few to imitate the rest of this head.
const HEAD = /^[\s\S]{0,24}?-(\d+) +\[\d+\] [^ ]+ +(\d+)\.(\d{6}): (\w+): /;
const EXEC = /^filename=([\s\S]*) pid=(\d+) old_pid=\d+$/;
const FORK = / pid=(\d+) child_comm=[\s\S]* child_pid=(\d+)$/;
const EXIT = / pid=(\d+) prio=\d+(?: group_dead=\w+)?$/;
const SOCKET =
  /^family=(\w+) protocol=(\w+) sport=(\d+) dport=(\d+) saddr=(\S+) daddr=(\S+) saddrv6=(\S+) daddrv6=(\S+) oldstate=(\w+) newstate=(\w+)/;
let instance = '';
let connectsWaiting: Waiting[] = [];

function onExec(pid: number, filename: string, us: number): void {
  const before = processes.get(pid);
  const owner = forks.get(pid);
  const forked = forks.has(pid) || before === undefined;
  const ppid = before === undefined && owner === undefined ? (factsOf(pid)?.ppid ?? 0) : 0;
  const parent = before?.parent ?? owner?.line ?? (ppid > 0 ? adopt(ppid)?.line : undefined);
  const proc = describe({ pid, us, filename, parent, flags: forked ? 'execve clone' : 'execve' });
  forks.delete(pid);
  remember(processes, pid, proc, PROCESSES_MAX);
  if (!ignored.has(pid)) emit('process_exec', withParent(proc), us);
}

function onSocket(tid: number, us: number, body: string): void {
  const found = SOCKET.exec(body);
  if (found === null) return;
  const [, family = '', protocol = '', sport, dport, s4 = '', d4 = '', s6 = '', d6 = '', from, to] =
    found;
  const six = family === 'AF_INET6';
  const [saddr, daddr] = six ? [s6, d6] : [s4, d4];
  const sock = { family, protocol, saddr, daddr, sport: Number(sport), dport: Number(dport) };
  const listening = `${saddr} ${sport}`;
  if (to === 'TCP_LISTEN') {
    remember(listeners, listening, adopt(tid)?.pid ?? tid, LISTENERS_MAX);
    emitSocket('inet_csk_listen_start', tid, sock, us);
  } else if (from === 'TCP_LISTEN' && to === 'TCP_CLOSE') listeners.delete(listening);
  else if (to === 'TCP_SYN_SENT') {
    // The source port is chosen after this moment: the event waits shortly for the answer, which knows it.
    adopt(tid);
    connectsWaiting.push({ pid: tid, us, sock });
    if (connectsWaiting.length > CONNECTS_WAITING_MAX) tellConnects(us, 1);
  } else if (from === 'TCP_SYN_SENT') {
    const same = (one: Waiting) => one.sock.daddr === daddr && one.sock.dport === sock.dport;
    const at = connectsWaiting.findIndex(same);
    const waiting = at < 0 ? undefined : connectsWaiting.splice(at, 1)[0];
    if (waiting) emitSocket('tcp_connect', waiting.pid, { ...sock, sport: sock.sport }, waiting.us);
  } else if (from === 'TCP_SYN_RECV') {
    const any = six ? '::' : '0.0.0.0';
    const owner = [listening, `${any} ${sport}`, `:: ${sport}`].find((key) => listeners.has(key));
    if (owner !== undefined) emitSocket('inet_csk_accept', listeners.get(owner) ?? 0, sock, us);
  }
}

function tellConnects(nowUs: number, atLeast = 0): void {
  let due = 0;
  for (const one of connectsWaiting) {
    if (due >= atLeast && nowUs - one.us < CONNECT_WAIT_US) break;
    emitSocket('tcp_connect', one.pid, one.sock, one.us);
    due += 1;
  }
  connectsWaiting = connectsWaiting.slice(due);
}

let torn = '';
let open = ''; // an exec whose file name holds a line break goes on in the next lines
function onTrace(text: string): void {
  const lines = (torn + text).split('\n');
  torn = lines.pop() ?? '';
  for (const line of lines) {
    const whole = open === '' ? line : `${open}\n${line}`;
    open = '';
    const head = HEAD.exec(whole);
    if (head === null) {
      if (line.includes('[LINE TOO BIG]')) lost += 1;
      continue;
    }
    const [matched, pid, seconds, micros, event] = head;
    onTraceEvent(
      String(event),
      Number(pid),
      Number(seconds) * 1e6 + Number(micros),
      whole.slice(matched.length),
      whole,
    );
  }
}

function onTraceEvent(event: string, pid: number, us: number, body: string, whole: string): void {
  if (event === 'sched_process_exec') {
    const found = EXEC.exec(body);
    if (found !== null && Number(found[2]) === pid) onExec(pid, String(found[1]), us);
    else if (whole.length < 2 * ARGUMENTS_MAX) open = whole;
    else lost += 1;
  } else if (event === 'sched_process_fork') {
    const found = FORK.exec(body);
    const parent = Number(found?.[1] ?? pid);
    if (found)
      remember(forks, Number(found[2]), processes.get(parent) ?? forks.get(parent), FORKS_MAX);
  } else if (event === 'sched_process_exit') {
    if (EXIT.test(body) && !ignored.has(pid)) emitExit(pid, us);
  } else if (event === 'inet_sock_set_state') onSocket(pid, us, body);
}

/** Why the kernel's trace cannot be used here, or undefined when it can. */
function openInstance(hooks: Hook[]): string | undefined {
  if (options.mode === 'polling') return 'polling was asked for';
  if (process.getuid?.() !== 0) return 'not root';
  if (linkOf('self/ns/pid') !== HOST_PID_NAMESPACE) return 'not in the host pid namespace';
  const root = TRACE_ROOTS.find((one) => fs.existsSync(`${one}/instances`));
  if (root === undefined) return 'tracefs is not mounted';
  try {
    removeLeftOvers(`${root}/instances`);
    const made = `${root}/instances/service-sensor-${process.pid}-${startTicks(process.pid)}`;
    fs.mkdirSync(made);
    instance = made;
    fs.writeFileSync(`${made}/trace_clock`, 'mono');
    fs.writeFileSync(`${made}/buffer_size_kb`, String(RING_KIB_PER_CPU));
    for (const event of EVENTS) fs.writeFileSync(`${made}/events/${event}/enable`, '1');
  } catch (error) {
    removeInstance();
    return `tracefs refused: ${String(error)}`;
  }
  try {
    fs.writeFileSync(`${instance}/events/${SOCKETS}/filter`, SOCKET_FILTER);
    fs.writeFileSync(`${instance}/events/${SOCKETS}/enable`, '1');
  } catch (error) {
    hooks.push({ hook: SOCKETS, reason: `connections are polled: ${String(error)}` });
  }
  return undefined;
}

function removeLeftOvers(directory: string): void {
  for (const name of fs.readdirSync(directory)) {
    const owner = INSTANCE.exec(name);
    if (owner === null || startTicks(Number(owner[1])) === owner[2]) continue;
    try {
      fs.rmdirSync(`${directory}/${name}`);
    } catch {} // somebody still reads it; the next start tries again
  }
}
function removeInstance(): void {
  try {
    if (instance !== '') fs.rmdirSync(instance);
  } catch (error) {
    process.stderr.write(`${JSON.stringify({ error: 'instance_left', reason: String(error) })}\n`);
  }
  instance = '';
}

let ringLost = 0;
function countRingLoss(): void {
  let total = 0;
  for (const cpu of instance === '' ? [] : fs.readdirSync(`${instance}/per_cpu`)) {
    const stats = fs.readFileSync(`${instance}/per_cpu/${cpu}/stats`, 'utf8');
    for (const found of stats.matchAll(/(?:overrun|dropped events): (\d+)/g))
      total += Number(found[1]);
  }
  lost += Math.max(0, total - ringLost);
  ringLost = Math.max(total, ringLost);
}

/** Blocking reads on one pool thread: each event is met within a fraction of a millisecond, and nothing polls. */
function readTrace(fd: number, ended: () => void): void {
  const buffer = Buffer.alloc(READ_BYTES);
  const decoder = new TextDecoder();
  const next = (): void => {
    if (stopping) {
      ended();
      return;
    }
    fs.read(fd, buffer, 0, buffer.length, null, (error, bytes) => {
      if (error) {
        setTimeout(next, 20);
        return;
      }
      onTrace(decoder.decode(buffer.subarray(0, bytes), { stream: true }));
      flush();
      if (bytes === 0) setTimeout(next, 20);
      else next();
    });
  };
  next();
}

// --- polling mode
let recheck: number[] = [];
function pollProcesses(): void {
  const us = monotonicUs();
  const live = new Set(pidsOf('/proc'));
  for (const pid of processes.keys()) if (!live.has(pid)) emitExit(pid, us);
  const again = new Set(recheck.splice(0, RECHECK_PER_POLL));
  if (recheck.length === 0) recheck = [...live];
  for (const pid of live) {
    const known = processes.get(pid);
    if (ignored.has(pid)) continue;
    const young = known !== undefined && us / 1_000 - known.seenMs < YOUNG_MS;
    if (known !== undefined && !young && !again.has(pid)) continue;
    if (known !== undefined && sameProgram(pid, known)) continue;
    const facts = factsOf(pid);
    if (facts === undefined) continue;
    const parent = known?.parent ?? (facts.ppid > 0 ? adopt(facts.ppid)?.line : undefined);
    const proc = describe({ pid, us, parent, flags: known ? 'execve' : 'execve clone' });
    remember(processes, pid, proc, PROCESSES_MAX);
    emit('process_exec', withParent(proc), us);
  }
  flush();
}
function sameProgram(pid: number, known: Proc): boolean {
  const now = (readProc(`${pid}/cmdline`) ?? '').replace(/\0$/, '');
  return now === '' || now === known.mark;
}

type Row = { readonly sock: Sock; readonly state: string };
function addressOf(hex: string): string {
  const groups = hex.match(/.{8}/g) ?? [];
  const bytes = groups.flatMap((word) => (word.match(/../g) ?? []).reverse());
  if (bytes.length === 4) return bytes.map((byte) => parseInt(byte, 16)).join('.');
  const words = bytes.flatMap((byte, at) =>
    at % 2 ? [] : [parseInt(byte + (bytes[at + 1] ?? ''), 16)],
  );
  const text = words.map((word) => word.toString(16)).join(':');
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}
function readSockets(): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const [file, family] of [
    ['net/tcp', 'AF_INET'],
    ['net/tcp6', 'AF_INET6'],
  ] as const) {
    let text = '';
    try {
      text = fs.readFileSync(`/proc/self/${file}`, 'latin1');
    } catch {}
    for (const line of text.split('\n').slice(1)) {
      const [, local = '', remote = '', state = '', , , , , , inode = '0'] = line
        .trim()
        .split(/\s+/);
      if (inode === '0') continue;
      const [source = '', sport = ''] = local.split(':');
      const [target = '', dport = ''] = remote.split(':');
      const ports = { sport: parseInt(sport, 16), dport: parseInt(dport, 16) };
      const ends = { saddr: addressOf(source), daddr: addressOf(target) };
      const sock = { family, protocol: 'IPPROTO_TCP', ...ends, ...ports };
      rows.set(inode, { sock, state });
    }
  }
  return rows;
}
function ownersOf(inodes: ReadonlySet<string>): Map<string, number> {
  const owners = new Map<string, number>();
  for (const pid of pidsOf('/proc').reverse()) {
    if (owners.size === inodes.size) break;
    for (const fd of pidsOf(`/proc/${pid}/fd`)) {
      const inode = linkOf(`${pid}/fd/${fd}`)?.match(/^socket:\[(\d+)\]$/)?.[1];
      if (inode !== undefined && inodes.has(inode)) owners.set(inode, pid);
    }
  }
  return owners;
}

let socketsBefore = new Map<string, Row>();
/** Compares the socket tables; the first call only learns, so that a start does not report old connections as new. */
function pollSockets(quiet: boolean): void {
  const now = readSockets();
  const listening = (row: Row) => row.state === '0A';
  const fresh = [...now].filter(
    ([inode, row]) => listening(row) !== isListening(inode) || !socketsBefore.has(inode),
  );
  const wanted = quiet ? fresh.filter(([, row]) => listening(row)) : fresh;
  const owners =
    wanted.length === 0 ? new Map() : ownersOf(new Set(wanted.map(([inode]) => inode)));
  const ports = new Set([...now.values()].filter(listening).map((row) => row.sock.sport));
  const us = monotonicUs();
  for (const [inode, row] of wanted) {
    const pid: number | undefined = owners.get(inode);
    if (pid === undefined) continue;
    if (listening(row))
      remember(listeners, `${row.sock.saddr} ${row.sock.sport}`, pid, LISTENERS_MAX);
    const opened = ports.has(row.sock.sport) ? 'inet_csk_accept' : 'tcp_connect';
    if (!quiet) emitSocket(listening(row) ? 'inet_csk_listen_start' : opened, pid, row.sock, us);
  }
  socketsBefore = now;
  flush();
}
const isListening = (inode: string): boolean => socketsBefore.get(inode)?.state === '0A';

// --- life
let stopping = false;
let closeReader: (() => void) | undefined;
function stop(): void {
  if (stopping) return;
  stopping = true;
  const leave = (): never => {
    tellConnects(Number.MAX_SAFE_INTEGER);
    tellLost();
    removeInstance();
    process.exit(0);
  };
  if (closeReader === undefined) leave();
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), STOP_WAIT_MS); // a reader that cannot be woken blocks any exit
  closeReader = leave;
  fs.writeFileSync(`${instance}/trace_marker`, 'stop'); // wakes the blocking read
}

function say(word: Line): void {
  process.stdout.write(`${JSON.stringify(word)}\n`);
}

function startTracing(): void {
  const fd = fs.openSync(`${instance}/trace_pipe`, 'r');
  closeReader = () => undefined;
  readTrace(fd, () => {
    countRingLoss();
    fs.closeSync(fd);
    closeReader?.();
  });
  setInterval(() => {
    if (connectsWaiting.length === 0) return;
    tellConnects(monotonicUs());
    flush();
  }, CONNECT_WAIT_US / 2_000);
}

function main(): void {
  const hooks: Hook[] = [];
  followWallClock();
  openExport();
  process.stdout.on('error', stop);
  process.stdin.on('end', stop).on('error', stop).resume();
  process.on('SIGTERM', stop).on('SIGINT', stop);
  const [beganUs, beganTicks] = [monotonicUs(), Number.parseFloat(readProc('uptime') ?? '') * 100];
  const refused = openInstance(hooks);
  emitExisting(beganUs, beganTicks);
  pollSockets(true);
  if (refused === undefined) {
    hooks.push({
      hook: 'process_exit.status',
      reason: 'exit codes are seen only before the parent has read them',
    });
    startTracing();
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
    say({ alive: new Date().toISOString(), written, lost });
  }, HEARTBEAT_MS);
}
main();
