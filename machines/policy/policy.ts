// A TracingPolicy that the `ebpf` engine can carry out, as plain data. decision: D45

/** How the kernel's value is read and told. `auto` only of a tracepoint, by the kernel's own description. */
export const ARGUMENT_KINDS = [
  's8',
  'u8',
  's16',
  'u16',
  's32',
  'u32',
  's64',
  'u64',
  'fd',
  'text',
  'bytes',
  'file',
  'binprm',
  'auto',
] as const;
export type ArgumentKind = (typeof ARGUMENT_KINDS)[number];

export type PolicyArgument = {
  readonly index: number;
  readonly kind: ArgumentKind;
  /** The argument that holds a buffer's length, counted from 0; only of `bytes`. */
  readonly sizeIndex: number | null;
  readonly label: string | null;
};
export type TextOperator = 'equal' | 'prefix' | 'postfix';
export type NumberOperator = 'equal' | 'above' | 'below' | 'mask' | 'range';
export type ArgumentMatch = {
  /** Which of the hook's arguments, in their order. */
  readonly slot: number;
  readonly operator: TextOperator | NumberOperator;
  readonly isNot: boolean;
  /** Numbers in decimal, a range as `low:high`. */
  readonly values: readonly string[];
};
export type PolicySelector = {
  readonly pids: {
    readonly isNot: boolean;
    readonly isOwn: boolean;
    readonly values: readonly number[];
  } | null;
  readonly binaries: {
    readonly operator: TextOperator;
    readonly isNot: boolean;
    readonly values: readonly string[];
  } | null;
  readonly namespaces: readonly {
    /** Its place among NAMESPACES. */
    readonly kind: number;
    readonly isNot: boolean;
    readonly values: readonly (number | 'host')[];
  }[];
  readonly capabilities: readonly {
    readonly set: 'effective' | 'permitted' | 'inheritable';
    readonly isNot: boolean;
    /** Bit numbers. */
    readonly values: readonly number[];
  }[];
  readonly args: readonly ArgumentMatch[];
  readonly isSilent: boolean;
  /** 0 = none. */
  readonly signal: number;
  /** The errno the call is answered with; 0 = none. */
  readonly override: number;
};
export type PolicyHook = {
  /** A system call by its name, a tracepoint, a hook of the LSM. */
  readonly kind: 'call' | 'tracepoint' | 'lsm';
  readonly category: string;
  readonly event: string;
  readonly message: string | null;
  readonly tags: readonly string[];
  readonly args: readonly PolicyArgument[];
  /** Never empty: a hook without selectors has one that fits everything. */
  readonly selectors: readonly PolicySelector[];
};
export type Policy = {
  readonly name: string;
  readonly mode: 'enforce' | 'monitor';
  readonly hooks: readonly PolicyHook[];
};

/** A selector that fits everything and posts. */
export const POST_ALL: PolicySelector = {
  pids: null,
  binaries: null,
  namespaces: [],
  capabilities: [],
  args: [],
  isSilent: false,
  signal: 0,
  override: 0,
};

/** In the order of the engine's own list. */
export const NAMESPACES = [
  'Uts',
  'Ipc',
  'Mnt',
  'Pid',
  'PidForChildren',
  'Net',
  'Time',
  'TimeForChildren',
  'Cgroup',
  'User',
] as const;

/** By their bit. */
export const CAPABILITIES = [
  'CAP_CHOWN',
  'CAP_DAC_OVERRIDE',
  'CAP_DAC_READ_SEARCH',
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_KILL',
  'CAP_SETGID',
  'CAP_SETUID',
  'CAP_SETPCAP',
  'CAP_LINUX_IMMUTABLE',
  'CAP_NET_BIND_SERVICE',
  'CAP_NET_BROADCAST',
  'CAP_NET_ADMIN',
  'CAP_NET_RAW',
  'CAP_IPC_LOCK',
  'CAP_IPC_OWNER',
  'CAP_SYS_MODULE',
  'CAP_SYS_RAWIO',
  'CAP_SYS_CHROOT',
  'CAP_SYS_PTRACE',
  'CAP_SYS_PACCT',
  'CAP_SYS_ADMIN',
  'CAP_SYS_BOOT',
  'CAP_SYS_NICE',
  'CAP_SYS_RESOURCE',
  'CAP_SYS_TIME',
  'CAP_SYS_TTY_CONFIG',
  'CAP_MKNOD',
  'CAP_LEASE',
  'CAP_AUDIT_WRITE',
  'CAP_AUDIT_CONTROL',
  'CAP_SETFCAP',
  'CAP_MAC_OVERRIDE',
  'CAP_MAC_ADMIN',
  'CAP_SYSLOG',
  'CAP_WAKE_ALARM',
  'CAP_BLOCK_SUSPEND',
  'CAP_AUDIT_READ',
  'CAP_PERFMON',
  'CAP_BPF',
  'CAP_CHECKPOINT_RESTORE',
] as const;
