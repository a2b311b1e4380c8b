// What every kind of line becomes: of our own samples, and of lines that Tetragon itself wrote. The whole event is compared for the kinds that carry most, the telling fields for the
// rest, and the message of each, so that a change of words or of meaning is seen.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RuntimeEvent } from '../../machines/wire/event.ts';
import { parserOfValue } from '../../machines/wire/parse.ts';
import { normalise } from '../../sensor/pipeline/normalise.ts';
import { createProcessCache } from '../../sensor/pipeline/process-cache.ts';
import { CHILD, INIT, SAMPLE_LINES, SHELL } from './sample-lines.ts';

const check = parserOfValue(RuntimeEvent);
type Name = keyof typeof SAMPLE_LINES;
const who = '/usr/bin/whoami (51583)';
const remote = { destination_ip: '192.0.2.9', destination_port: 443 };
const file = (path: string, operation: string) => ({ file: { path, operation } });

const GOLDEN: Readonly<Record<Name, readonly [kind: string, message: string, object?]>> = {
  exec: ['process_exec', `${who} started by /bin/bash: --version`],
  execInPod: [
    'process_exec',
    `${who} started by /bin/bash: --version`,
    {
      workload: {
        container_id:
          'containerd://551e161c47d8ff0eb665438a7bcd5b4e3ef5a297282b40a92b7c77d6bd168eb3',
        k8s_namespace: 'shop',
        pod_name: 'basket-6c9f-x2x7l',
        workload_type: 'Deployment',
        workload_name: 'basket',
        image: 'registry.test/basket:4',
      },
    },
  ],
  fork: ['process_exec', `${who} started by /bin/bash: --version`],
  exit: ['process_exit', `${who} ended`, { raw_kind: 'process_exit' }],
  exitBySignal: ['process_exit', `${who} ended by SIGKILL`],
  exitWithStatus: ['process_exit', `${who} ended with status 127`],
  connect: [
    'network_connect',
    `${who} connected to 192.0.2.9:443`,
    {
      network: {
        protocol: 'tcp',
        direction: 'outbound',
        source_ip: '10.0.0.7',
        source_port: 40_312,
        ...remote,
      },
      policy: { name: 'connect', action: 'post' },
      network_namespace: '4026531840',
      raw_kind: 'process_kprobe:tcp_connect',
    },
  ],
  connectByAddress: [
    'network_connect',
    `${who} connected to 192.0.2.9:443`,
    { network: { protocol: 'tcp', direction: 'outbound', ...remote } },
  ],
  accept: [
    'network_accept',
    `${who} accepted a connection from 192.0.2.9`,
    {
      network: {
        direction: 'inbound',
        source_ip: '192.0.2.9',
        destination_ip: '10.0.0.7',
        destination_port: 40_312,
      },
    },
  ],
  listen: [
    'network_listen',
    `${who} listens on 10.0.0.7:8080`,
    { severity: 'low', network: { direction: 'listen', destination_port: 8_080 } },
  ],
  dnsQuestion: [
    'dns_query',
    `${who} asked the name server 192.0.2.9:53 for updates.example.test (A)`,
    { network: { protocol: 'udp', domain: 'updates.example.test' } },
  ],
  dnsAnswer: [
    'dns_query',
    `${who} asked the name server 192.0.2.9:53 for updates.example.test (A): 192.0.2.9, 192.0.2.10`,
  ],
  fileRead: [
    'file_open',
    `${who} opened /etc/passwd: int 4, returned 0`,
    { ...file('/etc/passwd', 'open'), policy: { name: 'file-monitoring', action: 'post' } },
  ],
  fileWrite: ['file_write', `${who} changed /etc/passwd: int 2`, file('/etc/passwd', 'write')],
  truncate: ['file_write', `${who} changed /etc/shadow`, file('/etc/shadow', 'truncate')],
  setuid: ['privilege_change', `${who} changed its privileges: uid 0`, { severity: 'medium' }],
  setcap: ['privilege_change', `${who} changed its privileges: CAP_SYS_ADMIN`],
  module: ['kernel_module_load', `${who} loaded a kernel module: wireguard`, { severity: 'high' }],
  bpf: ['bpf_program_load', `${who} loaded a BPF program: snoop`],
  ptrace: ['process_ptrace', `${who} traced another process: request PTRACE_ATTACH, pid 51`],
  kill: ['process_signal', `${who} sent a signal: a signal: signal 9`],
  killed: [
    'policy_enforced',
    `${who} was stopped by policy no-write (sigkill): /etc/shadow`,
    { severity: 'high', policy: { name: 'no-write', action: 'sigkill' } },
  ],
  wouldBeKilled: [
    'file_write',
    `${who} changed /etc/shadow; policy no-write would have stopped it (sigkill)`,
    { severity: 'low', policy: { name: 'no-write', action: 'monitored.sigkill' } },
  ],
  wouldBeRefused: [
    'network_connect',
    `${who} connected to 192.0.2.9:443; policy no-way-out would have stopped it (override)`,
    { policy: { name: 'no-way-out', action: 'monitored.override' } },
  ],
  overridden: [
    'policy_enforced',
    `${who} was stopped by policy no-read (override): /etc/shadow, returned -13`,
    { policy: { name: 'no-read', action: 'override' } },
  ],
  tracepoint: [
    'policy_match',
    `${who} matched policy execs: /usr/bin/ls`,
    { raw_kind: 'process_tracepoint:sched_process_exec', file: { path: '/usr/bin/ls' } },
  ],
  systemCall: ['process_signal', `${who} sent a signal: size 51, size 9`],
  uprobe: [
    'policy_match',
    `${who} matched policy tls-writes: GET /`,
    { raw_kind: 'process_uprobe:SSL_write' },
  ],
  usdt: [
    'policy_match',
    `${who} matched policy runtime: int 0`,
    { raw_kind: 'process_usdt:node/gc__start' },
  ],
  lsm: [
    'policy_match',
    `${who} matched policy integrity: /usr/bin/grep`,
    { raw_kind: 'process_lsm:bprm_check_security', file: { path: '/usr/bin/grep' } },
  ],
  loader: [
    'library_load',
    `${who} opened /usr/lib/x86_64-linux-gnu/libc.so.6`,
    file('/usr/lib/x86_64-linux-gnu/libc.so.6', 'load'),
  ],
  throttle: ['engine_throttle', 'The engine throttled: session-429.scope', { severity: 'low' }],
  throttleEnds: ['engine_throttle', 'The engine throttled no longer: session-429.scope'],
  loss: ['engine_loss', 'The engine lost 1712 events', { occurrences: 1_712, severity: 'medium' }],
};

function eventOf(name: Name): RuntimeEvent {
  const context = { sensorId: 'sensor-1', cache: createProcessCache() };
  const result = normalise(JSON.stringify(SAMPLE_LINES[name]), context);
  if (!result.ok) throw new Error(result.refused);
  expect(check(result.event)).toEqual({ ok: true, value: result.event });
  return result.event;
}

it.each(Object.entries(GOLDEN))('always reads %s the same', (name, [kind, message, rest]) => {
  const event = eventOf(name as Name);
  expect({ kind: event.event_kind, message: event.message }).toEqual({ kind, message });
  if (rest !== undefined) expect(event).toMatchObject(rest);
});

it('always tells process, parent and ancestors whole', () => {
  const { event_id, message: _, ...event } = eventOf('exec');
  expect(event_id).toMatch(/^[0-9a-f]{32}$/);
  expect(event).toEqual({
    schema_version: 1,
    observed_at: '2026-05-11T12:54:45.616004204Z',
    event_kind: 'process_exec',
    severity: 'info',
    process: {
      exec_id: CHILD.exec_id,
      pid: 51_583,
      uid: 1_000,
      binary: '/usr/bin/whoami',
      arguments: '--version',
      cwd: '/home/ada',
      start_time: '2026-05-11T12:54:45.616004204Z',
    },
    parent: {
      exec_id: SHELL.exec_id,
      pid: 43_870,
      uid: 1_000,
      binary: '/bin/bash',
      cwd: '/home/ada',
      start_time: '2026-05-11T12:54:40.000Z',
    },
    ancestors: [
      {
        exec_id: INIT.exec_id,
        pid: 1,
        uid: 0,
        binary: '/usr/lib/systemd/systemd',
        start_time: '2026-05-11T10:00:00.010Z',
      },
    ],
    network_namespace: '4026531840',
    raw_kind: 'process_exec',
  });
});

it('never makes the id depend on spacing or on what the parent is known by', () => {
  const context = { sensorId: 'sensor-1', cache: createProcessCache() };
  const plain = normalise(JSON.stringify(SAMPLE_LINES.connect), context);
  const spaced = normalise(JSON.stringify(SAMPLE_LINES.connect, null, 1), context);
  expect(plain).toEqual(spaced);
});

// Event lines of the Tetragon project (https://github.com/cilium/tetragon, Apache License 2.0, The Tetragon Authors), from
// its test data and its documentation at v1.7.0; each says from where. Nothing in them was changed but the spacing.
type Quoted = { readonly name: string; readonly from: string; readonly line: object };
const QUOTED = readFileSync(new URL('./tetragon-lines.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((text) => JSON.parse(text) as Quoted);

const pod = (pod_name: string, id: string, more: object = {}) => ({
  workload: { k8s_namespace: 'default', pod_name, container_id: `containerd://${id}`, ...more },
});
const XWING = pod('xwing', '1fb931d2f6e5e4cfdbaf30fdb8e2fdd81320bdb3047ded50120a4f82838209ce');
const TOLD: Readonly<Record<string, readonly [kind: string, message: string, object?]>> = {
  throttleStart: ['engine_throttle', 'The engine throttled: session-429.scope'],
  throttleStop: ['engine_throttle', 'The engine throttled no longer: session-429.scope'],
  // It has no time of its own, only that of the start.
  execInPod: [
    'process_exec',
    '/usr/bin/netserver (68790) started by /usr/bin/containerd-shim-runc-v2: -D',
    {
      ...pod('tiefighter', '19a02291e106ce6227b684197be232ea57c4e1a5ab2604a12608c325d701c7f4'),
      observed_at: '2022-10-18T03:16:18.273546829Z',
    },
  ],
  exec: ['process_exec', '/usr/bin/whoami (51583) started by /bin/bash: --version', XWING],
  exit: ['process_exit', '/usr/bin/whoami (51583) ended', XWING],
  fileWrite: [
    'file_write',
    '/bin/vi (64746) changed /etc/passwd: int 2, returned 0',
    {
      ...file('/etc/passwd', 'write'),
      ...pod('file-access', '6b742e38ee3a212239e6d48b2954435a407af44b9a354bdf540db22f460ab40e', {
        ...{ workload_type: 'Pod', workload_name: 'file-access' },
        image: 'docker.io/library/busybox:latest',
      }),
      policy: { name: 'file-monitoring', action: 'post' },
    },
  ],
  moduleLoad: [
    'kernel_module_load',
    '/usr/sbin/insmod (82023) loaded a kernel module: kernel_module_hello',
    { parent: { binary: '/usr/bin/sudo', uid: 1_000 } },
  ],
  moduleRequest: [
    'kernel_module_load',
    '/bin/mount (130876) loaded a kernel module: fs-xfs, returned 0',
  ],
  credentials: [
    'privilege_change',
    '/tmp/su (22386) changed its privileges: uid 0 gid 0 user_ns.level 0 user_ns.uid 0 user_ns.gid 0 user_ns.ns.inum 4026531837 user_ns.ns.is_host true capabilities CAP_CHOWN DAC_OVERRIDE CAP_FOWNER CAP_FSETID CAP_KILL CAP_SETGID CAP_SETUID CAP_SETPCAP CAP_NET_BIND_SERVICE CAP_NET_RAW CAP_SYS_CHROOT CAP_MKNOD CAP_AUDIT_WRITE CAP_SETFCAP',
  ],
  setuid: ['privilege_change', '/bin/su (125798) changed its privileges: int 0'],
  setuidProgram: [
    'policy_match',
    '/bin/bash (36499) matched a policy: /bin/busybox',
    { raw_kind: 'process_kprobe:security_bprm_creds_from_file' },
  ],
  setns: [
    'privilege_change',
    '/usr/bin/nsenter (63066) changed its privileges: int 3, int 134217728',
    { policy: { name: 'namespace-access', action: 'post' } },
  ],
  capability: [
    'policy_match',
    '/bin/dmesg (73860) matched a policy: level 0 uid 0 gid 0 ns.inum 4026531837 ns.is_host true, CAP_SYSLOG, returned -1',
    { network_namespace: '4026534512' },
  ],
};

describe('lines of Tetragon itself', () => {
  const context = () => ({ sensorId: 'sensor-1', cache: createProcessCache() });

  it('should all have their golden event', () => {
    expect(QUOTED.map(({ name }) => name)).toEqual(Object.keys(TOLD));
  });

  it.each(QUOTED)('always reads $name the same, of $from', ({ name, line }) => {
    const result = normalise(JSON.stringify(line), context());
    if (!result.ok) throw new Error(result.refused);
    expect(check(result.event)).toEqual({ ok: true, value: result.event });
    const [kind, message, rest] = TOLD[name] ?? ['', ''];
    expect(result.event).toMatchObject({ event_kind: kind, message, ...rest });
  });

  it('always refuses the event that only its own tests make', () => {
    const line = { test: { arg0: '1', arg1: '2' }, node_name: 'n', time: '2024-07-26T13:07:43Z' };
    expect(normalise(JSON.stringify(line), context())).toEqual({
      ok: false,
      refused: 'unknown_event',
    });
  });
});
