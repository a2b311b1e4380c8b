import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RuntimeEvent } from '../../machines/wire/event.ts';
import { parserOfValue } from '../../machines/wire/parse.ts';
import { anyCharacter } from '../../props/any-character.ts';
import { runs } from '../../props/runs.ts';
import { normalise } from './normalise.ts';
import { createProcessCache } from './process-cache.ts';

const check = parserOfValue(RuntimeEvent);
const context = () => ({ sensorId: 'sensor-1', cache: createProcessCache() });
const shell = {
  exec_id: 'c2g=',
  pid: 51,
  uid: 0,
  binary: '/bin/sh',
  arguments: '-c id',
  cwd: '/root',
};
const child = { exec_id: 'aWQ=', pid: 52, uid: 0, binary: '/usr/bin/id', parent_exec_id: 'c2g=' };
const time = '2024-04-14T02:18:14.376304204Z';

function eventOf(line: unknown, within = context()): RuntimeEvent {
  const result = normalise(JSON.stringify(line), within);
  if (!result.ok) throw new Error(`refused: ${result.refused}`);
  expect(check(result.event)).toEqual({ ok: true, value: result.event });
  return result.event;
}
const kprobe = (name: string, rest: object = {}) => ({
  process_kprobe: {
    process: child,
    parent: shell,
    function_name: name,
    action: 'KPROBE_ACTION_POST',
    ...rest,
  },
  time,
});

describe('normalise', () => {
  it('should name process and parent when a program starts', () => {
    const event = eventOf({
      process_exec: { process: child, parent: shell },
      node_name: 'n',
      time,
    });
    expect(event).toMatchObject({
      event_kind: 'process_exec',
      severity: 'info',
      observed_at: time,
      message: '/usr/bin/id (52) started by /bin/sh',
      process: { exec_id: 'aWQ=', pid: 52, uid: 0, binary: '/usr/bin/id' },
      parent: { pid: 51, arguments: '-c id', cwd: '/root' },
      raw_kind: 'process_exec',
    });
  });

  it('should leave out what a title written over the arguments left behind', () => {
    const told = { ...child, arguments: `checkpointer${' '.repeat(300)}\0\0` };
    const event = eventOf({ process_exec: { process: told, parent: shell }, time });
    expect(event.process?.arguments).toBe('checkpointer');
    expect(event.message).toBe('/usr/bin/id (52) started by /bin/sh: checkpointer');
    const spaced = eventOf({ process_exec: { process: { ...child, arguments: 'a   b' } }, time });
    expect(spaced.process?.arguments).toBe('a   b');
    expect(spaced.message).toBe('/usr/bin/id (52) started: a b');
  });

  it('should take workload and network namespace from the process', () => {
    const pod = {
      namespace: 'default',
      name: 'tiefighter',
      workload: 'empire',
      workload_kind: 'Deployment',
      container: { id: 'containerd://abc', image: { name: 'netperf:1' } },
    };
    const process = { ...child, pod, docker: '19a0', ns: { net: { inum: 4026531840 } } };
    const event = eventOf({ process_exec: { process }, time });
    expect(event.workload).toEqual({
      container_id: 'containerd://abc',
      k8s_namespace: 'default',
      pod_name: 'tiefighter',
      workload_type: 'Deployment',
      workload_name: 'empire',
      image: 'netperf:1',
    });
    expect(event.network_namespace).toBe('4026531840');
  });

  it('should use the start time when a start has no time of its own', () => {
    const process = { ...child, start_time: '2022-10-18T03:16:18.273546829Z' };
    expect(eventOf({ process_exec: { process } }).observed_at).toBe(
      '2022-10-18T03:16:18.273546829Z',
    );
  });

  it.each([
    [
      'tcp_connect',
      'network_connect',
      { source_ip: '10.0.0.1', destination_ip: '10.0.0.2', direction: 'outbound' },
    ],
    [
      'inet_csk_accept',
      'network_accept',
      { source_ip: '10.0.0.2', destination_ip: '10.0.0.1', direction: 'inbound' },
    ],
    [
      'tcp_close',
      'network_close',
      { source_ip: '10.0.0.1', destination_ip: '10.0.0.2', direction: 'outbound' },
    ],
    [
      'inet_csk_listen_start',
      'network_listen',
      { destination_ip: '10.0.0.1', direction: 'listen' },
    ],
  ])('should turn %s into %s with the caller as source', (name, kind, network) => {
    const sock = {
      family: 'AF_INET',
      protocol: 'IPPROTO_TCP',
      saddr: '10.0.0.1',
      daddr: '10.0.0.2',
      sport: 1,
      dport: 2,
    };
    const event = eventOf(kprobe(name, { args: [{ sock_arg: sock }] }));
    expect(event.event_kind).toBe(kind);
    expect(event.network).toMatchObject({ protocol: 'tcp', ...network });
  });

  it.each([
    [2, 'file_write', 'write'],
    [4, 'file_open', 'open'],
  ])('should read the mask %i of a file permission check', (mask, kind, operation) => {
    const args = [
      { file_arg: { path: '/etc/passwd', permission: '-rw-r--r--' } },
      { int_arg: mask },
    ];
    const event = eventOf(
      kprobe('security_file_permission', { args, policy_name: 'file-monitoring' }),
    );
    expect(event).toMatchObject({
      event_kind: kind,
      file: { path: '/etc/passwd', operation },
      policy: { name: 'file-monitoring', action: 'post' },
    });
  });

  it('should say policy_enforced when the engine acted, whatever the hook', () => {
    const event = eventOf(
      kprobe('tcp_connect', { action: 'KPROBE_ACTION_SIGKILL', policy_name: 'deny' }),
    );
    expect(event).toMatchObject({
      event_kind: 'policy_enforced',
      severity: 'high',
      policy: { name: 'deny', action: 'sigkill' },
    });
  });

  it('should not take for done what a policy that only monitors would have done', () => {
    const line = kprobe('tcp_connect', { action: 'KPROBE_ACTION_SIGKILL', policy_name: 'deny' });
    const within = { ...context(), monitors: (name: string) => name === 'deny' };
    const event = eventOf(line, within);
    expect(event).toMatchObject({
      event_kind: 'network_connect',
      policy: { name: 'deny', action: 'monitored.sigkill' },
    });
    expect(event.event_id).toBe(eventOf(line).event_id);
    expect(event.message).toContain('would have stopped it');
  });

  it.each([
    ['process_kprobe', { function_name: '__x64_sys_setuid' }, 'privilege_change'],
    ['process_kprobe', { function_name: 'do_init_module' }, 'kernel_module_load'],
    ['process_kprobe', { function_name: 'bpf_check' }, 'bpf_program_load'],
    ['process_lsm', { function_name: 'ptrace_access_check' }, 'process_ptrace'],
    ['process_tracepoint', { subsys: 'syscalls', event: 'sys_enter_kill' }, 'process_signal'],
    ['process_lsm', { function_name: 'bprm_check_security', policy_name: 'p' }, 'policy_match'],
    ['process_uprobe', { symbol: 'tcp_connect', policy_name: 'p' }, 'policy_match'],
    ['process_usdt', { provider: 'test', name: 'usdt0', policy_name: 'p' }, 'policy_match'],
    ['process_loader', { path: '/lib/libc.so.6' }, 'library_load'],
  ])('should map %s %j to %s', (key, body, kind) => {
    expect(eventOf({ [key]: { process: child, ...body }, time }).event_kind).toBe(kind);
  });

  it('should carry the number of lost events and the throttled group', () => {
    const loss = { rate_limit_info: { number_of_dropped_process_events: '17' }, time };
    expect(eventOf(loss)).toMatchObject({
      event_kind: 'engine_loss',
      occurrences: 17,
      message: 'The engine lost 17 events',
    });
    const throttle = {
      process_throttle: { type: 'THROTTLE_START', cgroup: 'session-429.scope' },
      time,
    };
    expect(eventOf(throttle).event_kind).toBe('engine_throttle');
  });

  it('should name ancestors from earlier lines, the grandparent first', () => {
    const within = context();
    const init = { exec_id: 'aW5pdA==', pid: 1, binary: '/sbin/init' };
    eventOf({ process_exec: { process: init }, time }, within);
    eventOf({ process_exec: { process: { ...shell, parent_exec_id: 'aW5pdA==' } }, time }, within);
    const event = eventOf({ process_exec: { process: child }, time }, within);
    expect(event.parent?.binary).toBe('/bin/sh');
    expect(event.ancestors?.map((one) => one.binary)).toEqual(['/sbin/init']);
  });

  it('should give a repeated line the same id, and another sensor or argument another', () => {
    const line = kprobe('tcp_connect', { args: [{ int_arg: 1 }] });
    const id = eventOf(line).event_id;
    expect(eventOf(line).event_id).toBe(id);
    expect(eventOf(line, { ...context(), sensorId: 'sensor-2' }).event_id).not.toBe(id);
    expect(eventOf(kprobe('tcp_connect', { args: [{ int_arg: 2 }] })).event_id).not.toBe(id);
  });

  it.each([
    ['no json', 'malformed'],
    ['[]', 'malformed'],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'malformed'],
    ['{"process_dance":{},"time":"2024-04-14T02:18:14Z"}', 'unknown_event'],
    ['{"process_exec":{"process":{"pid":1}}}', 'time_missing'],
  ])('should refuse %s with a reason', (line, refused) => {
    expect(normalise(line, context())).toEqual({ ok: false, refused });
  });

  it('should keep control characters out of the message', () => {
    const process = { ...child, binary: '/tmp/\u001b[2Jx\ny' };
    expect(eventOf({ process_exec: { process }, time }).message).toBe('/tmp/ [2Jx y (52) started');
  });

  it('never throws on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (line) => {
        normalise(line, context());
      }),
    );
  });

  it('always gives an event its schema accepts, whatever stands in the fields', () => {
    const keys = [
      'process_exec',
      'process_exit',
      'process_kprobe',
      'process_lsm',
      'process_loader',
      'rate_limit_info',
    ];
    const wild = fc.oneof(
      fc.jsonValue(),
      fc.string({ minLength: 5_000, maxLength: 9_000 }),
      fc.constant('\ud800'),
    );
    const process = fc.record(
      {
        exec_id: wild,
        pid: wild,
        uid: wild,
        binary: wild,
        arguments: wild,
        cwd: wild,
        start_time: wild,
        pod: wild,
      },
      { requiredKeys: [] },
    );
    const sock = fc.record({ saddr: wild, daddr: wild, sport: wild, dport: wild, protocol: wild });
    const body = fc.record(
      {
        process: fc.oneof(process, wild),
        parent: fc.oneof(process, wild),
        ancestors: fc.oneof(fc.array(process, { maxLength: 30 }), wild),
        function_name: fc.oneof(
          fc.constantFrom('tcp_connect', 'inet_csk_accept', 'security_file_open'),
          wild,
        ),
        args: fc.oneof(
          fc.array(fc.record({ sock_arg: sock, file_arg: fc.record({ path: wild }) })),
          wild,
        ),
        policy_name: wild,
        action: wild,
        message: wild,
        number_of_dropped_process_events: wild,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.constantFrom(...keys), body, (key, said) => {
        const result = normalise(JSON.stringify({ [key]: said, time }), context());
        if (result.ok) expect(check(result.event)).toMatchObject({ ok: true });
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('process cache', () => {
  it('should forget the one not heard of for longest when it is full', () => {
    const cache = createProcessCache(2);
    for (const id of ['a', 'b', 'a', 'c']) cache.remember({ exec_id: id, pid: 1, binary: id }, '');
    expect(cache.size()).toBe(2);
    expect(['a', 'b', 'c'].map((id) => cache.chainFrom(id, 1).length)).toEqual([1, 0, 1]);
  });

  it('should end when a chain bites its own tail', () => {
    const cache = createProcessCache();
    cache.remember({ exec_id: 'a', pid: 1, binary: 'a' }, 'b');
    cache.remember({ exec_id: 'b', pid: 2, binary: 'b' }, 'a');
    expect(cache.chainFrom('a', 9).map((one) => one.binary)).toEqual(['a', 'b']);
  });
});
