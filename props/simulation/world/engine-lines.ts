// The lines of a simulated engine: the Tetragon export format that the Sensor's pipeline reads, one key in each. The key
// stands as the process's exec_id, which goes through to the stored event, so that a checker can follow every line.
import type { Random } from './random.ts';

type Line = Record<string, unknown>;
export type EngineLine = { readonly key: string; readonly text: string };

const BINARIES = ['/usr/bin/bash', '/usr/bin/curl', '/usr/sbin/sshd', '/usr/bin/python3'];
const SOCKET_HOOKS = ['tcp_connect', 'inet_csk_accept', 'inet_csk_listen_start', 'udp_sendmsg'];
const FILE_HOOKS = ['security_file_open', 'security_path_unlink', 'vfs_write'];
const HANDED_ON_MAX = 3;

/** Makes the lines of a node, its keys `<node>:<n>` counted from 1 through all lives of its engine. */
export function createEngineLines(node: string, random: Random) {
  let count = 0;

  function nextKey(): string {
    count += 1;
    return `${node}:${count}`;
  }

  function processOf(key: string, time: string): Line {
    const binary = random.pick(BINARIES);
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

  function bodyOf(process: Line): [kind: string, body: Line] {
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
      const called = { function_name: random.pick(SOCKET_HOOKS), args: [{ sock_arg: sock }] };
      return ['process_kprobe', { process, ...called, action: 'KPROBE_ACTION_POST' }];
    }
    const file = { path: `/srv/data/${random.between(0, 99)}` };
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
      const [kind, body] = bodyOf(processOf(key, time));
      return lineOf(key, kind, body, time);
    },
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
