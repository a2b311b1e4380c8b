// What every kind of line becomes. The whole event is compared for the kinds that carry most, the telling fields for the
// rest, and the message of each, so that a change of words or of meaning is seen.
import { expect, it } from 'vitest';
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
    `${who} opened /etc/passwd`,
    { ...file('/etc/passwd', 'open'), policy: { name: 'file-monitoring', action: 'post' } },
  ],
  fileWrite: ['file_write', `${who} changed /etc/passwd`, file('/etc/passwd', 'write')],
  truncate: ['file_write', `${who} changed /etc/shadow`, file('/etc/shadow', 'truncate')],
  setuid: ['privilege_change', `${who} changed its privileges: uid 0`, { severity: 'medium' }],
  setcap: ['privilege_change', `${who} changed its privileges: CAP_SYS_ADMIN`],
  module: ['kernel_module_load', `${who} loaded a kernel module: wireguard`, { severity: 'high' }],
  bpf: ['bpf_program_load', `${who} loaded a BPF program: snoop`],
  ptrace: ['process_ptrace', `${who} traced another process: request PTRACE_ATTACH, pid 51`],
  kill: ['process_signal', `${who} sent a signal: a signal`],
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
    `${who} was stopped by policy no-read (override): /etc/shadow`,
    { policy: { name: 'no-read', action: 'override' } },
  ],
  tracepoint: [
    'policy_match',
    `${who} matched policy execs: /usr/bin/ls`,
    { raw_kind: 'process_tracepoint:sched_process_exec', file: { path: '/usr/bin/ls' } },
  ],
  systemCall: ['process_signal', `${who} sent a signal`],
  uprobe: [
    'policy_match',
    `${who} matched policy tls-writes: GET /`,
    { raw_kind: 'process_uprobe:SSL_write' },
  ],
  usdt: [
    'policy_match',
    `${who} matched policy runtime`,
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
