// A trace instance of our own: made, read and removed. It is named by its process, so that left ones are known.
import * as fs from 'node:fs';
import { mode } from './engine-options.ts';
import { counts, flush } from './export-file.ts';
import { linkOf, READ_BYTES, startTicks } from './proc-files.ts';
import { END_MARK, hasMetEnd, onTrace } from './trace-lines.ts';
import { openTraceRoot } from './trace-root.ts';

/** What is not seen; `missing` marks what every engine is to see. */
export type Hook = { readonly hook: string; readonly reason: string; readonly missing?: true };
const RING_KIB_PER_CPU = 4_096;
const HOST_PID_NAMESPACE = 'pid:[4026531836]';
const INSTANCE = /^service-sensor-(\d+)-(\d+)$/;
export const EVENTS = [
  'sched/sched_process_fork',
  'sched/sched_process_exec',
  'sched/sched_process_exit',
];
export const SOCKETS = 'sock/inet_sock_set_state';
// connects (2 = SYN_SENT), accepts (3 = SYN_RECV to 1 = ESTABLISHED), listens and their end (10 = LISTEN)
const SOCKET_FILTER =
  'newstate == 2 || oldstate == 2 || newstate == 10 || oldstate == 10 || (oldstate == 3 && newstate == 1)';
// The name before the pid may hold anything; it has at most 15 bytes, too few to imitate the rest of this head.
let instance = '';

/** Why the kernel's trace cannot be used here, or undefined when it can. Never rejects. */
export async function openInstance(hooks: Hook[]): Promise<string | undefined> {
  if (mode === 'polling') return 'polling was asked for';
  if (process.getuid?.() !== 0) return 'not root';
  if (linkOf('self/ns/pid') !== HOST_PID_NAMESPACE) return 'not in the host pid namespace';
  const found = await openTraceRoot();
  if ('refused' in found) return found.refused;
  const { root } = found;
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
    const reason = `connections are polled: ${String(error)}`;
    hooks.push({ hook: SOCKETS, reason, missing: true });
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
export function removeInstance(): void {
  try {
    if (instance !== '') fs.rmdirSync(instance);
  } catch (error) {
    process.stderr.write(`${JSON.stringify({ error: 'instance_left', reason: String(error) })}\n`);
  }
  instance = '';
}

function perCpuStats(): string[] {
  const cpus = instance === '' ? [] : fs.readdirSync(`${instance}/per_cpu`);
  return cpus.map((cpu) => fs.readFileSync(`${instance}/per_cpu/${cpu}/stats`, 'utf8'));
}

function countLostInKernel(more: number): void {
  counts.lost += more;
  counts.lostInKernel += more;
}

let ringLost = 0;
export function countRingLoss(): void {
  let total = 0;
  for (const stats of perCpuStats()) {
    for (const found of stats.matchAll(/(?:overrun|dropped events): (\d+)/g))
      total += Number(found[1]);
  }
  countLostInKernel(Math.max(0, total - ringLost));
  ringLost = Math.max(total, ringLost);
}

/** Blocking reads on one pool thread: each event is met within a fraction of a millisecond, and nothing polls. */
function readTrace(fd: number, isOver: () => boolean, ended: () => void): void {
  const buffer = Buffer.alloc(READ_BYTES);
  const decoder = new TextDecoder();
  const next = (): void => {
    if (isOver()) {
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

/** Reads until it is over and woken up, then calls back. */
export function startReading(isOver: () => boolean, ended: () => void): void {
  const fd = fs.openSync(`${instance}/trace_pipe`, 'r');
  readTrace(fd, isOver, () => {
    countRingLoss();
    if (!hasMetEnd()) countUnread();
    fs.closeSync(fd);
    ended();
  });
}

/** Puts the end behind all that has happened; it wakes the read that blocks, too. */
export function markEnd(): void {
  fs.writeFileSync(`${instance}/trace_marker`, END_MARK);
}

/** What has happened and will not be read any more. */
function countUnread(): void {
  for (const stats of perCpuStats())
    countLostInKernel(Number(/entries: (\d+)/.exec(stats)?.[1] ?? 0));
}
