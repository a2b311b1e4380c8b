// How each policy of the starter library is triggered on x86-64: calls with their number and arguments, none of which does
// any harm: paths that do not exist, descriptors that are none, a process that never was.
type Call = readonly [number: number, ...args: readonly (number | string)[]];

const [OPENAT, READ_ONLY, WRITE_ONLY] = [257, 0, 1];
const HERE = -100;
const NONE = 4_194_303;
const open = (path: string, flags: number): readonly Call[] => [[OPENAT, HERE, path, flags, 0]];

/** By the policy's name; every one of its hooks once, in their order. */
export const TRIGGERS: Readonly<Record<string, readonly Call[]>> = {
  'attach-to-process': [[101, 16, NONE, 0, 0]],
  'change-root': [
    [161, '/nowhere'],
    [155, '/nowhere', '/nowhere'],
  ],
  'enter-namespace': [[308, -1, 0]],
  'handle-page-faults': [[323, -1]],
  'load-bpf-program': [[321, 5, 0, 0]],
  'load-kernel-module': [
    [175, 0, 0, ''],
    [313, -1, '', 0],
  ],
  'load-other-kernel': [
    [246, 0, 0, 0, -1],
    [320, -1, -1, 0, 0, -1],
  ],
  'make-io-ring': [[425, 0, 0]],
  'make-memory-file': [[319, 'nothing', 0]],
  'make-user-namespace': [[272, 0x10000000]],
  'mount-file-system': [[165, 'none', '/nowhere/at/all', 'none', 0, 0]],
  'open-raw-socket': [
    [41, 17, 3, 0],
    [41, 2, 3, 255],
  ],
  'read-cloud-credentials': open('/nowhere/.aws/credentials', READ_ONLY),
  'read-password-hashes': open('/etc/gshadow-', READ_ONLY),
  'read-process-memory': open(`/proc/${NONE}/mem`, READ_ONLY),
  'read-service-account-token': open('/run/secrets/kubernetes.io/serviceaccount/token', READ_ONLY),
  'read-ssh-keys': open('/nowhere/.ssh/id_ed25519', READ_ONLY),
  'remove-logs': [
    [263, HERE, '/var/log/nowhere/nothing', 0],
    [87, '/var/log/nowhere/nothing'],
  ],
  'remove-shell-history': [
    [263, HERE, '/nowhere/.bash_history', 0],
    [87, '/nowhere/.bash_history'],
  ],
  'set-user-id-bit': [
    [268, HERE, '/nowhere', 0o4755],
    [90, '/nowhere', 0o4755],
  ],
  'unload-kernel-module': [[176, 'no_such_module', 0]],
  'write-authorized-keys': open('/nowhere/.ssh/authorized_keys', WRITE_ONLY),
  'write-cron': open('/etc/cron.d/nowhere/nothing', WRITE_ONLY),
  'write-pam': open('/etc/pam.d/nowhere/nothing', WRITE_ONLY),
  'write-preload': open('/etc/ld.so.preload', WRITE_ONLY),
  'write-process-memory': [[311, NONE, 0, 0, 0, 0, 0]],
  'write-shell-profiles': open('/nowhere/.bashrc', WRITE_ONLY),
  'write-sudoers': open('/etc/sudoers.d/nowhere/nothing', WRITE_ONLY),
  'write-systemd-units': open('/etc/systemd/system/nowhere/nothing', WRITE_ONLY),
};
