// The lines of the kernel's trace: every exec, fork, exit and TCP state change.
import { ignored } from './engine-options.ts';
import { counts, emit } from './export-file.ts';
import { createHandover } from './handover.ts';
import {
  ARGUMENTS_MAX,
  adopt,
  describe,
  emitExit,
  emitSocket,
  FORKS_MAX,
  forks,
  LISTENERS_MAX,
  listeners,
  PROCESSES_MAX,
  processes,
  remember,
  type Sock,
  withParent,
} from './known-processes.ts';
import { factsOf } from './proc-files.ts';

const CONNECTS_WAITING_MAX = 4_096;
export const CONNECT_WAIT_US = 200_000;
type Waiting = {
  readonly pid: number;
  readonly us: number;
  readonly sock: Sock;
  readonly wasTold: boolean;
};
const HEAD = /^[\s\S]{0,24}?-(\d+) +\[\d+\] [^ ]+ +(\d+)\.(\d{6}): (\w+): /;
const EXEC = /^filename=([\s\S]*) pid=(\d+) old_pid=\d+$/;
const FORK = / pid=(\d+) child_comm=[\s\S]* child_pid=(\d+)$/;
const EXIT = / pid=(\d+) prio=\d+(?: group_dead=\w+)?$/;
const SOCKET =
  /^family=(\w+) protocol=(\w+) sport=(\d+) dport=(\d+) saddr=(\S+) daddr=(\S+) saddrv6=(\S+) daddrv6=(\S+) oldstate=(\w+) newstate=(\w+)/;
/** What this engine writes into its trace when it is asked to end. */
export const END_MARK = 'end';
let isAtEnd = false;
let lastForkedPid = 0;
let connectsWaiting: Waiting[] = [];

export const handover = createHandover();
/** The process or thread whose beginning was read last; 0 before the first. */
export const lastForked = (): number => lastForkedPid;
/** Everything that happened before the end was asked for has been read. */
export const hasMetEnd = (): boolean => isAtEnd;
export const areConnectsWaiting = (): boolean => connectsWaiting.length > 0;

function onExec(pid: number, filename: string, us: number, wasTold: boolean): void {
  const before = processes.get(pid);
  const owner = forks.get(pid);
  const forked = forks.has(pid) || before === undefined;
  const ppid = before === undefined && owner === undefined ? (factsOf(pid)?.ppid ?? 0) : 0;
  const parent = before?.parent ?? owner?.line ?? (ppid > 0 ? adopt(ppid)?.line : undefined);
  const proc = describe({ pid, us, filename, parent, flags: forked ? 'execve clone' : 'execve' });
  forks.delete(pid);
  remember(processes, pid, proc, PROCESSES_MAX);
  if (!wasTold && !ignored.has(pid)) emit('process_exec', withParent(proc), us);
}

function onSocket(tid: number, us: number, body: string, wasTold: boolean): void {
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
    if (!wasTold) emitSocket('inet_csk_listen_start', tid, sock, us);
  } else if (from === 'TCP_LISTEN' && to === 'TCP_CLOSE') listeners.delete(listening);
  else if (to === 'TCP_SYN_SENT') {
    // The source port is chosen after this moment: the event waits shortly for the answer, which knows it.
    adopt(tid);
    connectsWaiting.push({ pid: tid, us, sock, wasTold });
    if (connectsWaiting.length > CONNECTS_WAITING_MAX) tellConnects(us, 1);
  } else if (from === 'TCP_SYN_SENT') {
    const same = (one: Waiting) => one.sock.daddr === daddr && one.sock.dport === sock.dport;
    const at = connectsWaiting.findIndex(same);
    const waiting = at < 0 ? undefined : connectsWaiting.splice(at, 1)[0];
    if (waiting) tellConnect(waiting, sock);
  } else if (from === 'TCP_SYN_RECV') {
    const any = six ? '::' : '0.0.0.0';
    const owner = [listening, `${any} ${sport}`, `:: ${sport}`].find((key) => listeners.has(key));
    const pid = owner === undefined ? undefined : listeners.get(owner);
    if (pid !== undefined && !wasTold) emitSocket('inet_csk_accept', pid, sock, us);
  }
}

/** Its beginning is the event, which may be older than the answer that tells of it. */
function tellConnect(waiting: Waiting, sock: Sock): void {
  if (!waiting.wasTold) emitSocket('tcp_connect', waiting.pid, sock, waiting.us);
}

export function tellConnects(nowUs: number, atLeast = 0): void {
  let due = 0;
  for (const one of connectsWaiting) {
    if (due >= atLeast && nowUs - one.us < CONNECT_WAIT_US) break;
    tellConnect(one, one.sock);
    due += 1;
  }
  connectsWaiting = connectsWaiting.slice(due);
}

let torn = '';
let open = ''; // an exec whose file name holds a line break goes on in the next lines
export function onTrace(text: string): void {
  const lines = (torn + text).split('\n');
  torn = lines.pop() ?? '';
  for (const line of lines) {
    const whole = open === '' ? line : `${open}\n${line}`;
    open = '';
    const head = HEAD.exec(whole);
    if (head === null) {
      if (line.includes('[LINE TOO BIG]')) counts.lost += 1;
      continue;
    }
    const [matched, pid, seconds, micros, event] = head;
    const at = Number(seconds) * 1e6 + Number(micros);
    onTraceEvent(String(event), Number(pid), at, whole.slice(matched.length), whole);
  }
}

function onTraceEvent(event: string, pid: number, us: number, body: string, whole: string): void {
  const wasTold = handover.wasTold(us, `${event} ${pid} ${body}`);
  handover.note(us, `${event} ${pid} ${body}`);
  if (event === 'sched_process_exec') {
    const found = EXEC.exec(body);
    if (found !== null && Number(found[2]) === pid) onExec(pid, String(found[1]), us, wasTold);
    else if (whole.length < 2 * ARGUMENTS_MAX) open = whole;
    else counts.lost += 1;
  } else if (event === 'sched_process_fork') {
    const found = FORK.exec(body);
    if (found === null) return;
    const [parent, child] = [Number(found[1]), Number(found[2])];
    lastForkedPid = child;
    remember(forks, child, processes.get(parent) ?? forks.get(parent), FORKS_MAX);
  } else if (event === 'sched_process_exit') {
    if (EXIT.test(body) && !ignored.has(pid)) emitExit(pid, us, wasTold);
  } else if (event === 'inet_sock_set_state') onSocket(pid, us, body, wasTold);
  else if (event === 'tracing_mark_write' && body.startsWith(END_MARK)) isAtEnd = true;
}
