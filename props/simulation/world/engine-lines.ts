// The lines of a simulated engine: the Tetragon export format that the Sensor's pipeline reads, one key in each. The key
// stands as the process's exec_id, which goes through to the stored event, so that a checker can follow every line.
import type { Random } from './random.ts';

type Line = Record<string, unknown>;
export type EngineLine = { readonly key: string; readonly text: string };
/** What a program did, as its node knows it. */
export type Deed = { readonly binary: string; readonly isStart: boolean; readonly atMs: number };

const BINARIES = ['/usr/bin/bash', '/usr/bin/curl', '/usr/sbin/sshd', '/usr/bin/python3'];
const SOCKET_HOOKS = ['tcp_connect', 'inet_csk_accept', 'inet_csk_listen_start', 'udp_sendmsg'];
const FILE_HOOKS = ['security_file_open', 'security_path_unlink', 'vfs_write'];
const HANDED_ON_MAX = 3;
const FOLDERS = ['data', 'logs', 'keys'];
const NETWORKS = 4;
/** The hooks that become a connection, with its direction; a call to port 53 is a question for a name. */
const DIRECTIONS: Readonly<Record<string, string>> = {
  tcp_connect: 'outbound',
  udp_sendmsg: 'outbound',
  inet_csk_accept: 'inbound',
};
const DNS_PORT = 53;

/**
 * Makes the lines of a node, its keys `<node>:<n>` counted from 1 through all lives of its engine. With `programs` half of
 * them are of that many programs with habits: each has its own folders, networks and parents.
 */
export function createEngineLines(node: string, random: Random, programs = 0) {
  let count = 0;
  const deeds = new Map<string, Deed>();
  // Of its own, so that lines without such programs are drawn as they always were.
  const habits = random.fork('programs');
  const connections = new Map<string, number>();
  const firstMs = new Map<string, number>();
  let latestMs = 0;

  /** Some run often and others hardly ever; -1 for a program of the usual few. */
  function programOf(): number {
    if (programs === 0 || !habits.chance(0.5)) return -1;
    return Math.floor(programs * habits.next() ** 2);
  }

  function noteConnection(binary: unknown, hook: string, port: number): void {
    const direction = DIRECTIONS[hook];
    if (direction === undefined || (hook === 'udp_sendmsg' && port === DNS_PORT)) return;
    const key = `${direction} ${binary}`;
    connections.set(key, (connections.get(key) ?? 0) + 1);
  }

  function nextKey(): string {
    count += 1;
    return `${node}:${count}`;
  }

  function processOf(key: string, time: string, program: number): Line {
    const usual = random.pick(BINARIES);
    const binary = program < 0 ? usual : `/opt/app/bin/p${program}`;
    const parent = count - random.between(1, HANDED_ON_MAX);
    return {
      exec_id: key,
      pid: 1_000 + (count % 30_000),
      uid: random.pick([0, 1_000]),
      cwd: '/srv',
      binary,
      arguments: `--run ${count}`,
      flags: 'execve clone',
      start_time: time,
      ...(parent > 0 ? { parent_exec_id: `${node}:${parent}` } : {}),
    };
  }

  function bodyOf(process: Line, program: number): [kind: string, body: Line] {
    const draw = random.next();
    if (draw < 0.4) return ['process_exec', { process }];
    if (draw < 0.65) return ['process_exit', { process, status: random.pick([0, 0, 1, 127]) }];
    if (draw < 0.85) {
      const sock = {
        family: 'AF_INET',
        type: 'SOCK_STREAM',
        protocol: random.pick(['IPPROTO_TCP', 'IPPROTO_UDP']),
        saddr: '10.0.0.1',
        daddr: `10.0.${random.between(0, 255)}.${random.between(1, 254)}`,
        sport: random.between(1_024, 65_535),
        dport: random.pick([53, 80, 443, 8_080]),
      };
      if (program >= 0) {
        sock.daddr = `10.${program % 256}.${habits.between(0, NETWORKS - 1)}.1`;
        sock.saddr = `10.0.0.${habits.between(1, NETWORKS)}`;
      }
      const hook = random.pick(SOCKET_HOOKS);
      noteConnection(process['binary'], hook, sock.dport);
      const called = { function_name: hook, args: [{ sock_arg: sock }] };
      return ['process_kprobe', { process, ...called, action: 'KPROBE_ACTION_POST' }];
    }
    const file = { path: `/srv/data/${random.between(0, 99)}` };
    if (program >= 0) file.path = `/srv/app-${program}/${habits.pick(FOLDERS)}/file`;
    const called = { function_name: random.pick(FILE_HOOKS), args: [{ file_arg: file }] };
    return ['process_kprobe', { process, ...called, action: 'KPROBE_ACTION_POST' }];
  }

  function lineOf(key: string, kind: string, body: Line, time: string): EngineLine {
    return { key, text: `${JSON.stringify({ [kind]: body, node_name: node, time })}\n` };
  }

  return {
    /** An event of a drawn kind. */
    event(wallMs: number): EngineLine {
      const key = nextKey();
      const time = timeOf(wallMs, count);
      const program = programOf();
      const process = processOf(key, time, program);
      const binary = String(process['binary']);
      if (!firstMs.has(binary)) firstMs.set(binary, wallMs);
      latestMs = Math.max(latestMs, wallMs);
      const [kind, body] = bodyOf(process, program);
      deeds.set(key, { binary, isStart: kind === 'process_exec', atMs: Math.floor(wallMs) });
      return lineOf(key, kind, body, time);
    },
    /** What was done in the line of a key; of a line that is no event of a program nothing. */
    deedOf: (key: string): Deed | undefined => deeds.get(key),
    /** Connections in the lines so far, by direction and program. */
    connections: (): ReadonlyMap<string, number> => connections,
    /** For how long a program is known at most, by the times in the lines. */
    knownForMs: (binary: string): number => latestMs - (firstMs.get(binary) ?? latestMs),
    /** What tells that events were dropped. */
    loss(wallMs: number, dropped: number): EngineLine {
      const key = nextKey();
      const time = timeOf(wallMs, count);
      const body = { number_of_dropped_process_events: String(dropped), process: { exec_id: key } };
      return lineOf(key, 'rate_limit_info', body, time);
    },
  };
}

/** The engine's stamps have nanoseconds, and no two lines of one millisecond need have the same. */
function timeOf(wallMs: number, count: number): string {
  const seconds = new Date(wallMs).toISOString().slice(0, 23);
  return `${seconds}${String(count % 1_000).padStart(3, '0')}000Z`;
}
