// The paths that the `ebpf` engine watches when it is given none. One that is given any watches those alone, so that what
// an operator adds goes to it together with these.

/** Read or written. */
export const WATCHED: readonly string[] = [
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/sudoers',
  '/etc/ssh/ssh_host_',
  '/root/.ssh/',
  '/run/secrets/kubernetes.io/',
  '/var/lib/kubelet/pki/',
  '/etc/kubernetes/',
  '/dev/mem',
  '/dev/kmem',
  '/proc/kcore',
];
/** Written. */
export const WATCHED_WRITES: readonly string[] = [
  '/etc/passwd',
  '/etc/group',
  '/etc/ld.so.preload',
  '/etc/cron',
  '/var/spool/cron',
  '/etc/systemd/',
  '/etc/pam.d/',
  '/usr/bin/',
  '/usr/sbin/',
  '/usr/lib/systemd/',
  '/boot/',
  '/sys/kernel/security/',
];
