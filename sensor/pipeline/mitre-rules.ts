// The rules of mitre.ts as tables: programs by name, files by path and deed, connections by address and port, and what
// stands for itself. To add one, add a row; the names are those of ATT&CK for Linux and containers.
import type { EventKind } from '../../machines/wire/event.ts';

export type Tagged = readonly [technique: string, tactic: string];
type Deed = 'read' | 'write' | 'erase';

const SHELL: Tagged = ['T1059.004', 'execution'];
const SCRIPT: Tagged = ['T1059', 'execution'];
const TRANSFER: Tagged = ['T1105', 'command-and-control'];
const ESCAPE: Tagged = ['T1611', 'privilege-escalation'];
const CONTAINER_COMMAND: Tagged = ['T1609', 'execution'];
const FIREWALL: Tagged = ['T1562.004', 'defense-evasion'];
const ACCOUNT: Tagged = ['T1136.001', 'persistence'];
const ACCOUNT_CHANGED: Tagged = ['T1098', 'persistence'];
const TRACE: Tagged = ['T1055.008', 'privilege-escalation'];
const MODULE: Tagged = ['T1547.006', 'persistence'];
const RIGHTS: Tagged = ['T1222.002', 'defense-evasion'];
const MINING: Tagged = ['T1496', 'impact'];
const SNIFF: Tagged = ['T1040', 'credential-access'];
const SCAN: Tagged = ['T1046', 'discovery'];

const BY_TECHNIQUE: readonly (readonly [names: string, Tagged, inContainer?: Tagged])[] = [
  ['sh bash dash zsh ash ksh fish busybox', SHELL],
  ['python pypy', ['T1059.006', 'execution']],
  ['perl ruby php lua tclsh', SCRIPT],
  ['curl wget scp sftp rsync tftp ftp', TRANSFER],
  ['nc ncat netcat socat', ['T1095', 'command-and-control']],
  ['ssh', ['T1021.004', 'lateral-movement']],
  ['whoami id who w last', ['T1033', 'discovery']],
  ['uname hostname lsb_release lscpu dmidecode', ['T1082', 'discovery']],
  ['ps top pstree', ['T1057', 'discovery']],
  ['ifconfig ip route arp', ['T1016', 'discovery']],
  ['netstat ss lsof', ['T1049', 'discovery']],
  ['find locate', ['T1083', 'discovery']],
  ['getent', ['T1087.001', 'discovery']],
  ['nmap masscan zmap', SCAN],
  ['tcpdump tshark dumpcap', SNIFF],
  ['crontab', ['T1053.003', 'persistence']],
  ['at', ['T1053.002', 'persistence']],
  ['useradd adduser', ACCOUNT],
  ['usermod passwd chpasswd groupmod', ACCOUNT_CHANGED],
  ['chmod chown chattr setfacl', RIGHTS],
  ['base64 uudecode xxd', ['T1140', 'defense-evasion']],
  ['gdb strace ltrace', TRACE],
  ['insmod modprobe', MODULE],
  ['sudo doas', ['T1548.003', 'privilege-escalation']],
  ['su', ['T1078.003', 'privilege-escalation']],
  ['kubectl docker crictl ctr nerdctl podman', CONTAINER_COMMAND],
  ['nsenter unshare mount chroot', ['T1548', 'privilege-escalation'], ESCAPE],
  ['iptables ip6tables nft ufw firewall-cmd', FIREWALL],
  ['auditctl', ['T1562.012', 'defense-evasion']],
  ['setenforce aa-disable aa-teardown', ['T1562.001', 'defense-evasion']],
  ['shred wipe', ['T1485', 'impact']],
  ['xmrig minerd cpuminer ccminer', MINING],
];

/** By the last part of the path, with the rule that holds inside a container behind it. */
export const PROGRAMS: ReadonlyMap<string, readonly [Tagged, Tagged?]> = new Map(
  BY_TECHNIQUE.flatMap(([names, tagged, contained]) =>
    names
      .split(' ')
      .map((name): [string, readonly [Tagged, Tagged?]] => [
        name,
        contained === undefined ? [tagged] : [tagged, contained],
      ]),
  ),
);

export const PATHS: readonly {
  readonly does: readonly Deed[];
  readonly path: RegExp;
  readonly tagged: Tagged;
}[] = [
  {
    does: ['read', 'write'],
    path: /^\/proc\/1\/root|\/release_agent$|\/(?:docker|containerd|crio)\.sock$/,
    tagged: ESCAPE,
  },
  { does: ['read'], path: /^\/etc\/g?shadow-?$/, tagged: ['T1003.008', 'credential-access'] },
  {
    does: ['read'],
    path: /^\/proc\/\d+\/(?:mem|maps)$/,
    tagged: ['T1003.007', 'credential-access'],
  },
  {
    does: ['read'],
    path: /\/kubernetes\.io\/serviceaccount\/(?:.*\/)?token$/,
    tagged: ['T1528', 'credential-access'],
  },
  {
    does: ['read'],
    path: /\/\.ssh\/id_[a-z0-9]+$|\/ssh_host_[a-z0-9]+_key$/,
    tagged: ['T1552.004', 'credential-access'],
  },
  {
    does: ['read'],
    path: /\/\.(?:aws\/credentials|kube\/config|docker\/config\.json|netrc|git-credentials|pgpass)$/,
    tagged: ['T1552.001', 'credential-access'],
  },
  { does: ['read'], path: /_history$/, tagged: ['T1552.003', 'credential-access'] },
  { does: ['write'], path: /\/\.ssh\/authorized_keys2?$/, tagged: ['T1098.004', 'persistence'] },
  { does: ['write'], path: /^\/(?:etc|var\/spool)\/cron/, tagged: ['T1053.003', 'persistence'] },
  {
    does: ['write'],
    path: /\/systemd\/(?:system|user)\/.*\.timer$/,
    tagged: ['T1053.006', 'persistence'],
  },
  { does: ['write'], path: /\/systemd\/(?:system|user)\//, tagged: ['T1543.002', 'persistence'] },
  {
    does: ['write'],
    path: /^\/etc\/(?:profile|bash\.bashrc|zsh)|\/\.(?:bashrc|bash_profile|profile|zshrc)$/,
    tagged: ['T1546.004', 'persistence'],
  },
  { does: ['write'], path: /^\/etc\/ld\.so\./, tagged: ['T1574.006', 'persistence'] },
  { does: ['write'], path: /^\/etc\/pam\.d\//, tagged: ['T1556.003', 'credential-access'] },
  { does: ['write'], path: /^\/etc\/sudoers/, tagged: ['T1548.003', 'privilege-escalation'] },
  { does: ['write'], path: /^\/etc\/(?:passwd|shadow|group)-?$/, tagged: ACCOUNT },
  { does: ['write'], path: /^\/(?:etc\/modules|lib\/modules\/)/, tagged: MODULE },
  { does: ['erase'], path: /^\/var\/log\//, tagged: ['T1070.002', 'defense-evasion'] },
  { does: ['erase'], path: /_history$/, tagged: ['T1070.003', 'defense-evasion'] },
];

export const CONNECTIONS: readonly {
  readonly ip?: string;
  readonly port?: number;
  readonly onlyContained?: boolean;
  readonly tagged: Tagged;
}[] = [
  { ip: '169.254.169.254', tagged: ['T1552.005', 'credential-access'] },
  { ip: 'fd00:ec2::254', tagged: ['T1552.005', 'credential-access'] },
  { port: 10_250, onlyContained: true, tagged: ['T1613', 'discovery'] },
  { port: 22, tagged: ['T1021.004', 'lateral-movement'] },
  { port: 3_333, tagged: MINING },
  { port: 6_667, tagged: ['T1071', 'command-and-control'] },
  { port: 4_444, tagged: ['T1571', 'command-and-control'] },
  { port: 9_050, tagged: ['T1090.003', 'command-and-control'] },
];

export const WHATEVER: Partial<Record<EventKind, Tagged>> = {
  privilege_change: ['T1548', 'privilege-escalation'],
  kernel_module_load: MODULE,
  bpf_program_load: ['T1014', 'defense-evasion'],
  process_ptrace: TRACE,
};
