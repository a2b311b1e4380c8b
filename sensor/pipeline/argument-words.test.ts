// Nothing that an engine says of a call is lost without a trace: every kind of argument is in the message. The kinds are
// those of Tetragon 1.7.
import { describe, expect, it } from 'vitest';
import { normalise } from './normalise.ts';
import { createProcessCache } from './process-cache.ts';

const ARGUMENTS: readonly [argument: object, words: string][] = [
  [{ string_arg: 'text' }, 'text'],
  [{ int_arg: 0 }, 'int 0'],
  [{ int_arg: -13, label: 'code' }, 'code -13'],
  [{ uint_arg: 7 }, 'uint 7'],
  [{ long_arg: '-4' }, 'long -4'],
  [{ size_arg: '18446744072119856613' }, 'size 18446744072119856613'],
  [{ bytes_arg: 'AAEC' }, 'bytes AAEC'],
  [{ truncated_bytes_arg: { bytes_arg: 'AAEC', orig_size: '9' } }, 'bytes_arg AAEC orig_size 9'],
  [{ sock_arg: { daddr: '10.0.0.9', dport: 443 } }, 'daddr 10.0.0.9 dport 443'],
  [{ skb_arg: { len: 60 } }, 'len 60'],
  [{ sockaddr_arg: { family: 'AF_INET', addr: '10.0.0.9' } }, 'family AF_INET addr 10.0.0.9'],
  [{ sockaddrun_arg: { path: '/run/a' } }, '/run/a'],
  [{ path_arg: { path: '/a' } }, '/a'],
  [{ file_arg: { path: '/b' } }, '/b'],
  [{ linux_binprm_arg: { path: '/c' } }, '/c'],
  [{ cred_arg: { permitted: ['CAP_KILL', 'CAP_CHOWN'] } }, 'permitted CAP_KILL+CAP_CHOWN'],
  [
    { process_credentials_arg: { uid: 0, gid: 5, euid: 0, egid: 5, suid: 9 } },
    'uid 0 gid 5 suid 9',
  ],
  [
    { process_credentials_arg: { uid: 1, caps: { effective: ['A', 'B'], permitted: ['A'] } } },
    'uid 1 capabilities A B permitted A',
  ],
  [
    { process_credentials_arg: { uid: 1, gid: 1, egid: 2, caps: { inheritable: ['C'] } } },
    'uid 1 gid 1 egid 2 inheritable C',
  ],
  [{ user_ns_arg: { level: 1, ns: { inum: 4 } } }, 'level 1 ns.inum 4'],
  [{ user_namespace_arg: { level: 0 } }, 'level 0'],
  [{ capability_arg: { value: 21, name: 'CAP_SYS_ADMIN' } }, 'CAP_SYS_ADMIN'],
  [{ cap_inheritable_arg: 'CAP_KILL' }, 'cap_inheritable CAP_KILL'],
  [{ cap_permitted_arg: 'CAP_KILL' }, 'cap_permitted CAP_KILL'],
  [{ cap_effective_arg: 'CAP_KILL' }, 'cap_effective CAP_KILL'],
  [{ kernel_cap_t_arg: 'CAP_KILL' }, 'kernel_cap_t CAP_KILL'],
  [{ module_arg: { name: 'xfs' } }, 'xfs'],
  [{ bpf_attr_arg: { ProgType: 'BPF_PROG_TYPE_KPROBE' } }, 'ProgType BPF_PROG_TYPE_KPROBE'],
  [{ bpf_prog_arg: { ProgName: 'snoop' } }, 'snoop'],
  [{ bpf_map_arg: { MapName: 'ring' } }, 'ring'],
  [{ bpf_cmd_arg: 'BPF_PROG_LOAD', label: 'cmd' }, 'BPF_PROG_LOAD'],
  [{ perf_event_arg: { KprobeFunc: 'f' } }, 'f'],
  [{ net_dev_arg: { name: 'eth0' } }, 'eth0'],
  [{ syscall_id: { id: 59, abi: 'x64' } }, 'id 59 abi x64'],
  [{ error_arg: { message: 'no memory' } }, 'message no memory'],
  [{ kind_of_a_later_version: { a: { b: [1, 2] } } }, 'a.b 1+2'],
];

function eventOf(called: object) {
  const process = { exec_id: 'e1', pid: 4, binary: '/bin/a' };
  const time = '2026-01-01T00:00:00.000000001Z';
  const line = { process_kprobe: { process, function_name: 'some_hook', ...called }, time };
  const result = normalise(JSON.stringify(line), { sensorId: 's', cache: createProcessCache() });
  if (!result.ok) throw new Error(result.refused);
  return result.event;
}

describe('the arguments of a hook', () => {
  it.each(ARGUMENTS)('should be in the message: %j', (argument, words) => {
    expect(eventOf({ args: [argument] }).message).toBe(`/bin/a (4) matched a policy: ${words}`);
  });

  it('should tell what was returned', () => {
    expect(eventOf({ args: [{ int_arg: 3 }], return: { int_arg: -1 } }).message).toMatch(
      /: int 3, returned -1$/,
    );
  });

  it('should tell an action also without the name of a policy', () => {
    expect(eventOf({ action: 'KPROBE_ACTION_GETURL' }).policy).toEqual({
      name: '',
      action: 'geturl',
    });
    expect(eventOf({ action: 'KPROBE_ACTION_POST' })).not.toHaveProperty('policy');
  });

  it('should tell what was done at the return of a call, also beside a post at its begin', () => {
    const done = { action: 'KPROBE_ACTION_POST', return_action: 'KPROBE_ACTION_SIGKILL' };
    expect(eventOf(done)).toMatchObject({
      ...{ event_kind: 'policy_enforced', policy: { name: '', action: 'sigkill' } },
    });
  });

  it.each([{ action: 'KPROBE_ACTION_POST' }, {}])(
    'should tell what else was done at the return: %j',
    (begin) => {
      const { policy } = eventOf({ ...begin, return_action: 'KPROBE_ACTION_GETURL' });
      expect(policy).toEqual({ name: '', action: 'geturl' });
    },
  );

  it('should not tell twice what the event has fields for', () => {
    const sock = { family: 'AF_INET', saddr: '10.0.0.1', sport: 5, daddr: '10.0.0.2', dport: 80 };
    const called = { function_name: 'tcp_connect', args: [{ sock_arg: sock }, { int_arg: 9 }] };
    expect(eventOf(called).message).toBe('/bin/a (4) connected to 10.0.0.2:80: int 9');
  });

  it('should say of whom a call made itself, and what a gap was', () => {
    const creds = { uid: 0, gid: 0, euid: 0 };
    const raised = eventOf({
      function_name: 'commit_creds',
      args: [{ process_credentials_arg: creds }],
    });
    expect(raised.message).toBe('/bin/a (4) changed its privileges: uid 0 gid 0');
    const unwatched = {
      since: '2026-01-01T00:00:00Z',
      until: '2026-01-01T00:01:00Z',
      how: 'rebooted',
    };
    const info = { number_of_dropped_process_events: '9', unwatched };
    const line = JSON.stringify({ rate_limit_info: info, time: '2026-01-01T00:01:00Z' });
    expect(normalise(line, { sensorId: 's', cache: createProcessCache() })).toMatchObject({
      event: {
        message:
          'The engine lost 9 events: nobody watched from 2026-01-01T00:00:00Z to 2026-01-01T00:01:00Z (rebooted)',
      },
    });
  });
});
