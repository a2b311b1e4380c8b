// /proc and /proc/net/tcp, read again and again: what stays for a while is seen.
import * as fs from 'node:fs';
import { ignored } from './engine-options.ts';
import { counts, emit, flush } from './export-file.ts';
import { forksNow, threadsNow } from './fork-counts.ts';
import {
  adopt,
  describe,
  emitExit,
  emitSocket,
  LISTENERS_MAX,
  listeners,
  PROCESSES_MAX,
  type Proc,
  processes,
  remember,
  type Sock,
  withParent,
} from './known-processes.ts';
import { factsOf, linkOf, pidsOf, readProc } from './proc-files.ts';
import { monotonicUs } from './wall-clock.ts';

const RECHECK_PER_POLL = 64;
const YOUNG_MS = 1_000;
let recheck: number[] = [];
let met = 0;
const before = { forks: forksNow(), threads: threadsNow(), unseen: 0 };
/**
 * Counts what began and ended between two looks: what the kernel forked since the first one, less what was met, less the
 * threads that are more than then. An estimate that holds threads which have ended, so at most so many.
 */
export function countUnseen(): void {
  const threads = Math.max(0, threadsNow() - before.threads);
  const unseen = forksNow() - before.forks - met - threads;
  counts.lost += Math.max(0, unseen - before.unseen);
  before.unseen = Math.max(unseen, before.unseen);
}
export function pollProcesses(): void {
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
    if (known === undefined) met += 1;
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
export function pollSockets(quiet: boolean): void {
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
