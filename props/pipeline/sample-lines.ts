// Lines in the shape Tetragon 1.7 documents, at least one of every event kind, with the spellings its encoder uses: 64-bit
// numbers as text, zero left out, wrapped zeros kept, enums by name. Our own words and addresses.
const time = '2026-05-11T12:54:45.616004204Z';
const idOf = (ns: number, pid: number) => Buffer.from(`node-a:${ns}:${pid}`).toString('base64');
const pod = {
  namespace: 'shop',
  name: 'basket-6c9f-x2x7l',
  uid: '0b1f2ad8-54a9-4d6f-9c0a-0d4b5b8f7a11',
  container: {
    id: 'containerd://551e161c47d8ff0eb665438a7bcd5b4e3ef5a297282b40a92b7c77d6bd168eb3',
    name: 'web',
    image: { id: 'registry.test/basket@sha256:5551', name: 'registry.test/basket:4' },
    start_time: '2026-05-11T12:00:00Z',
    pid: 7,
  },
  pod_labels: { app: 'basket' },
  workload: 'basket',
  workload_kind: 'Deployment',
};
export const INIT = {
  exec_id: idOf(10_000_000, 1),
  pid: 1,
  uid: 0,
  cwd: '/',
  binary: '/usr/lib/systemd/systemd',
  flags: 'procFS auid rootcwd',
  start_time: '2026-05-11T10:00:00.010Z',
  auid: 4_294_967_295,
};
export const SHELL = {
  exec_id: idOf(20_000_000_000, 43_870),
  pid: 43_870,
  uid: 1_000,
  cwd: '/home/ada',
  binary: '/bin/bash',
  flags: 'execve clone',
  start_time: '2026-05-11T12:54:40.000Z',
  auid: 1_000,
  parent_exec_id: INIT.exec_id,
  refcnt: 2,
  tid: 43_870,
};
export const CHILD = {
  exec_id: idOf(25_616_000_000, 51_583),
  pid: 51_583,
  uid: 1_000,
  cwd: '/home/ada',
  binary: '/usr/bin/whoami',
  arguments: '--version',
  flags: 'execve',
  start_time: time,
  auid: 1_000,
  parent_exec_id: SHELL.exec_id,
  cap: {},
  ns: { net: { inum: 4_026_531_840, is_host: true }, pid: { inum: 4_026_531_836 } },
  tid: 51_583,
  process_credentials: { uid: 1_000, gid: 1_000, euid: 1_000, egid: 1_000 },
};
export const POD_CHILD = { ...CHILD, pod, docker: '551e161c47d8ff0eb665438a7bcd5b4' };
const stream = {
  family: 'AF_INET',
  type: 'SOCK_STREAM',
  protocol: 'IPPROTO_TCP',
  saddr: '10.0.0.7',
  daddr: '192.0.2.9',
  sport: 40_312,
  dport: 443,
  cookie: '18446623486823526144',
  state: 'TCP_SYN_SENT',
};
const datagram = { ...stream, type: 'SOCK_DGRAM', protocol: 'IPPROTO_UDP', dport: 53 };
const asked = { string_arg: 'updates.example.test', label: 'dns_name' };

type Line = Readonly<Record<string, unknown>>;
const at = (kind: string, body: Line): Line => ({ [kind]: body, node_name: 'node-a', time });
const hook = (name: string, args: readonly Line[], rest: Line = {}): Line =>
  at('process_kprobe', {
    process: CHILD,
    parent: SHELL,
    function_name: name,
    args,
    action: 'KPROBE_ACTION_POST',
    ...rest,
  });

/** Each sample by name. */
export const SAMPLE_LINES = {
  exec: at('process_exec', { process: CHILD, parent: SHELL, ancestors: [INIT] }),
  execInPod: at('process_exec', { process: POD_CHILD, parent: SHELL }),
  fork: at('process_exec', { process: { ...CHILD, flags: 'clone' }, parent: SHELL }),
  exit: at('process_exit', { process: CHILD, parent: SHELL, time }),
  exitBySignal: at('process_exit', { process: CHILD, parent: SHELL, signal: 'SIGKILL' }),
  exitWithStatus: at('process_exit', { process: CHILD, parent: SHELL, status: 127 }),
  connect: hook('tcp_connect', [{ sock_arg: stream }], { policy_name: 'connect' }),
  connectByAddress: hook('security_socket_connect', [
    { sock_arg: { family: 'AF_INET', type: 'SOCK_STREAM', protocol: 'IPPROTO_TCP' } },
    { sockaddr_arg: { family: 'AF_INET', addr: '192.0.2.9', port: 443 } },
  ]),
  accept: hook('inet_csk_accept', [], { return: { sock_arg: stream } }),
  listen: hook('inet_csk_listen_start', [{ sock_arg: { ...stream, sport: 8_080 } }]),
  dnsQuestion: hook('udp_sendmsg', [
    { sock_arg: datagram },
    asked,
    { string_arg: 'A', label: 'dns_type' },
    { uint_arg: 4_711, label: 'dns_id' },
  ]),
  dnsAnswer: hook('udp_recvmsg', [
    { sock_arg: datagram },
    asked,
    { string_arg: 'A', label: 'dns_type' },
    { int_arg: 0, label: 'dns_code' },
    { string_arg: '192.0.2.9', label: 'dns_address' },
    { string_arg: '192.0.2.10', label: 'dns_address' },
  ]),
  fileRead: hook(
    'security_file_permission',
    [{ file_arg: { path: '/etc/passwd', permission: '-rw-r--r--' } }, { int_arg: 4 }],
    { return: { int_arg: 0 }, return_action: 'KPROBE_ACTION_POST', policy_name: 'file-monitoring' },
  ),
  fileWrite: hook('security_file_permission', [
    { file_arg: { mount: '/srv', path: '/etc/passwd' } },
    { int_arg: 2 },
  ]),
  truncate: hook('security_path_truncate', [{ path_arg: { path: '/etc/shadow' } }]),
  setuid: hook('__x64_sys_setuid', [{ int_arg: 0, label: 'uid' }]),
  setcap: hook('security_capset', [{ capability_arg: { value: 21, name: 'CAP_SYS_ADMIN' } }]),
  module: hook('do_init_module', [{ module_arg: { name: 'wireguard', signature_ok: true } }]),
  bpf: hook('bpf_check', [
    { bpf_attr_arg: { ProgType: 'BPF_PROG_TYPE_KPROBE', InsnCnt: 2, ProgName: 'snoop' } },
  ]),
  ptrace: hook('__x64_sys_ptrace', [
    { string_arg: 'PTRACE_ATTACH', label: 'request' },
    { int_arg: 51, label: 'pid' },
  ]),
  kill: hook('security_task_kill', [{ int_arg: 9, label: 'signal' }], { message: 'a signal' }),
  killed: hook('__x64_sys_write', [{ file_arg: { path: '/etc/shadow' } }], {
    policy_name: 'no-write',
    action: 'KPROBE_ACTION_SIGKILL',
    tags: ['compliance'],
  }),
  wouldBeKilled: hook('__x64_sys_write', [{ file_arg: { path: '/etc/shadow' } }], {
    policy_name: 'no-write',
    action: 'KPROBE_ACTION_POST',
    tags: ['compliance', 'monitored.override', 'monitored.sigkill'],
  }),
  wouldBeRefused: hook('tcp_connect', [{ sock_arg: { daddr: '192.0.2.9', dport: 443 } }], {
    policy_name: 'no-way-out',
    action: 'KPROBE_ACTION_POST',
    tags: ['monitored.override'],
  }),
  overridden: hook('security_file_open', [{ file_arg: { path: '/etc/shadow' } }], {
    policy_name: 'no-read',
    return_action: 'KPROBE_ACTION_OVERRIDE',
    return: { int_arg: -13 },
  }),
  tracepoint: at('process_tracepoint', {
    process: CHILD,
    parent: SHELL,
    subsys: 'sched',
    event: 'sched_process_exec',
    args: [{ linux_binprm_arg: { path: '/usr/bin/ls', permission: 'rwxr-xr-x' } }],
    policy_name: 'execs',
    action: 'KPROBE_ACTION_POST',
  }),
  systemCall: at('process_tracepoint', {
    process: CHILD,
    parent: SHELL,
    subsys: 'syscalls',
    event: 'sys_enter_kill',
    args: [{ size_arg: '51' }, { size_arg: '9' }],
  }),
  uprobe: at('process_uprobe', {
    process: CHILD,
    parent: SHELL,
    path: '/usr/lib/libssl.so.3',
    symbol: 'SSL_write',
    policy_name: 'tls-writes',
    args: [{ string_arg: 'GET /' }],
    offset: '4096',
    action: 'KPROBE_ACTION_POST',
  }),
  usdt: at('process_usdt', {
    process: CHILD,
    parent: SHELL,
    path: '/usr/bin/node',
    provider: 'node',
    name: 'gc__start',
    policy_name: 'runtime',
    args: [{ int_arg: 0 }],
    action: 'KPROBE_ACTION_POST',
  }),
  lsm: at('process_lsm', {
    process: CHILD,
    parent: SHELL,
    function_name: 'bprm_check_security',
    policy_name: 'integrity',
    args: [{ linux_binprm_arg: { path: '/usr/bin/grep', permission: '-rwxr-xr-x' } }],
    action: 'KPROBE_ACTION_POST',
    ima_hash: `sha256:${'73ab'.repeat(16)}`,
  }),
  loader: at('process_loader', {
    process: CHILD,
    parent: SHELL,
    path: '/usr/lib/x86_64-linux-gnu/libc.so.6',
    buildid: 'Zm9vYmFy',
  }),
  throttle: at('process_throttle', { type: 'THROTTLE_START', cgroup: 'session-429.scope' }),
  throttleEnds: at('process_throttle', { type: 'THROTTLE_STOP', cgroup: 'session-429.scope' }),
  loss: at('rate_limit_info', { number_of_dropped_process_events: '1712' }),
} as const;
