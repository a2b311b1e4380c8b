// From the kernel function an engine hooked to what happened, and how grave that is by default. One table, so that all
// engines agree; a hook that is not in it is a policy's own and becomes `policy_match`.
import { type EventKind, MONITORED_TAG, type Severity } from '../../machines/wire/event.ts';

const HOOKS: Readonly<Record<string, readonly string[]>> = {
  network_connect: [
    'tcp_connect',
    'tcp_v4_connect',
    'tcp_v6_connect',
    'security_socket_connect',
    'sys_connect',
    'udp_sendmsg',
    'udpv6_sendmsg',
    'udp_recvmsg',
    'udpv6_recvmsg',
  ],
  network_accept: ['inet_csk_accept', 'security_socket_accept', 'sys_accept', 'sys_accept4'],
  network_listen: ['inet_csk_listen_start', 'inet_listen', 'security_socket_listen', 'sys_listen'],
  network_close: ['tcp_close'],
  file_open: ['security_file_open', 'fd_install', 'do_filp_open', 'sys_open', 'sys_openat'],
  file_write: [
    'vfs_write',
    'sys_write',
    'security_path_truncate',
    'security_path_unlink',
    'security_path_rename',
    'security_inode_unlink',
    'security_inode_rename',
  ],
  privilege_change: [
    'commit_creds',
    'security_task_fix_setuid',
    'security_capset',
    'create_user_ns',
    'sys_setuid',
    'sys_setgid',
    'sys_setreuid',
    'sys_setresuid',
    'sys_setregid',
    'sys_setresgid',
    'sys_setfsuid',
    'sys_setfsgid',
    'sys_capset',
    'sys_setns',
    'sys_unshare',
  ],
  kernel_module_load: [
    'do_init_module',
    'find_module_sections',
    'security_kernel_module_request',
    'sys_init_module',
    'sys_finit_module',
    'module_load',
  ],
  bpf_program_load: [
    'bpf_check',
    'security_bpf_prog',
    'security_bpf_prog_alloc',
    'bpf_prog_load',
    'sys_bpf',
  ],
  process_ptrace: ['security_ptrace_access_check', 'ptrace_attach', 'sys_ptrace'],
  process_signal: ['security_task_kill', 'signal_generate', 'sys_kill', 'sys_tkill', 'sys_tgkill'],
};

const KIND_OF_HOOK: ReadonlyMap<string, EventKind> = new Map(
  Object.entries(HOOKS).flatMap(([kind, hooks]) =>
    hooks.map((hook): [string, EventKind] => [hook, kind as EventKind]),
  ),
);

const SEVERITY_OF_KIND: Readonly<Record<EventKind, Severity>> = {
  process_exec: 'info',
  process_exit: 'info',
  process_burst: 'info',
  network_connect: 'info',
  network_accept: 'info',
  network_listen: 'low',
  network_close: 'info',
  dns_query: 'info',
  file_open: 'info',
  file_write: 'low',
  privilege_change: 'medium',
  kernel_module_load: 'high',
  bpf_program_load: 'medium',
  process_ptrace: 'medium',
  process_signal: 'low',
  library_load: 'info',
  policy_match: 'medium',
  policy_enforced: 'high',
  engine_loss: 'medium',
  engine_throttle: 'low',
  ngap_procedure: 'info',
  telecom_anomaly: 'medium',
};

const MONITORED = ['sigkill', 'signal', 'override'].map((one) => `${MONITORED_TAG}${one}`);
const ENFORCING = new Set(['sigkill', 'override', 'signal', 'notifyenforcer']);

/** The kind of a hooked function, whatever the architecture's prefix; undefined for a hook only its policy knows. */
export function kindOfHook(name: string): EventKind | undefined {
  const plain = name.replace(/^__(?:x64|ia32|arm64)_/, '').replace(/^sys_(?:enter|exit)_/, 'sys_');
  return KIND_OF_HOOK.get(plain) ?? KIND_OF_HOOK.get(`security_${plain}`);
}

export function severityOf(kind: EventKind): Severity {
  return SEVERITY_OF_KIND[kind];
}

/** `KPROBE_ACTION_SIGKILL` -> `sigkill`. */
export function actionName(action: string): string {
  return action.replace(/^KPROBE_ACTION_/, '').toLowerCase();
}

/** `monitored.sigkill` when the tags say that a policy which only monitors would have killed; the gravest, as one is told. */
export function monitoredAction(tags: readonly unknown[]): string | undefined {
  return MONITORED.find((one) => tags.includes(one));
}

/** Whether the engine did something about it, not merely told. */
export function isEnforcing(action: string): boolean {
  return ENFORCING.has(action);
}
