// What a selector is read as: whom it fits and what is done then, and what of it is refused where. decision: D45
import { describe, expect, it } from 'vitest';
import {
  hookOf,
  type Part,
  reasonsOf,
  refusedAt,
  selectorOf,
  withCall,
  withLsm,
  withSelector,
} from '../../props/policies/policy-text.ts';
import { CAPABILITIES, NAMESPACES, POST_ALL } from './policy.ts';

const AT = 'spec.kprobes[0].selectors[0]';

describe('the selectors of a hook', () => {
  it('should be one that fits everything where there is none', () => {
    const all = {
      ...{ pids: null, binaries: null, namespaces: [], capabilities: [], args: [] },
      ...{ isSilent: false, signal: 0, override: 0 },
    };
    for (const text of [withCall({}), withCall({ selectors: [] }), withSelector({})]) {
      expect(hookOf(text).selectors).toEqual([all]);
    }
    expect(POST_ALL).toEqual(all);
  });

  it('should be five at most, each a mapping', () => {
    expect(hookOf(withCall({ selectors: Array(5).fill({}) })).selectors).toHaveLength(5);
    expect(refusedAt(withCall({ selectors: Array(6).fill({}) }))).toEqual([
      'spec.kprobes[0].selectors invalid',
    ]);
    expect(refusedAt(withCall({ selectors: ['a'] }))).toEqual([`${AT} invalid`]);
    expect(refusedAt(withCall({ selectors: {} }))).toEqual(['spec.kprobes[0].selectors invalid']);
  });

  it.each([
    ...['matchReturnArgs', 'matchReturnActions', 'matchParentBinaries', 'matchNamespaceChanges'],
    ...['matchCapabilityChanges', 'matchData', 'macros'],
  ])('should be left to other engines with %s', (name) => {
    expect(refusedAt(withSelector({ [name]: [] }))).toEqual([`${AT}.${name} engine_cannot`]);
  });
});

describe('the processes of a selector', () => {
  const pids = (change: Part) =>
    withSelector({ matchPIDs: [{ operator: 'In', values: [1], ...change }] });

  it('should be named by numbers of the node or of their own namespace', () => {
    expect(selectorOf(pids({ values: [0, 4_194_304] })).pids).toEqual({
      ...{ isNot: false, isOwn: false, values: [0, 4_194_304] },
    });
    const own = pids({ operator: 'NotIn', isNamespacePID: true, followForks: false });
    expect(selectorOf(own).pids).toEqual({ isNot: true, isOwn: true, values: [1] });
  });

  it('should be refused where something of them is none', () => {
    const at = `${AT}.matchPIDs[0]`;
    expect(refusedAt(pids({ values: [-1] }))).toEqual([`${at}.values[0] invalid`]);
    expect(refusedAt(pids({ values: [4_194_305] }))).toEqual([`${at}.values[0] invalid`]);
    expect(refusedAt(pids({ values: [1, 2, 3, 4, 5] }))).toEqual([`${at}.values invalid`]);
    expect(refusedAt(pids({ values: [] }))).toEqual([`${at}.values invalid`]);
    expect(refusedAt(pids({ operator: 'Equal' }))).toEqual([`${at}.operator invalid`]);
    expect(refusedAt(pids({ followForks: true }))).toEqual([`${at}.followForks engine_cannot`]);
    expect(refusedAt(pids({ isNamespacePID: 1 }))).toEqual([`${at}.isNamespacePID invalid`]);
    expect(reasonsOf(withSelector({ matchPIDs: [{}] }))).toEqual([
      ...['operator is missing', 'values is missing'],
    ]);
    const two = withSelector({
      matchPIDs: [1, 2].map((one) => ({ operator: 'In', values: [one] })),
    });
    expect(refusedAt(two)).toEqual([`${AT}.matchPIDs invalid`]);
  });
});

describe('the programs of a selector', () => {
  const binaries = (change: Part) =>
    withSelector({ matchBinaries: [{ operator: 'In', values: ['/bin/a'], ...change }] });

  it.each([
    ['In', 'equal', false],
    ['NotIn', 'equal', true],
    ['Prefix', 'prefix', false],
    ['NotPrefix', 'prefix', true],
    ['Postfix', 'postfix', false],
    ['NotPostfix', 'postfix', true],
  ])('should be chosen by %s', (operator, read, isNot) => {
    expect(selectorOf(binaries({ operator, followChildren: false })).binaries).toEqual({
      ...{ operator: read, isNot, values: ['/bin/a'] },
    });
  });

  it('should be refused where something of them is none', () => {
    const at = `${AT}.matchBinaries[0]`;
    expect(refusedAt(binaries({ followChildren: true }))).toEqual([
      `${at}.followChildren engine_cannot`,
    ]);
    expect(refusedAt(binaries({ operator: 'Equal' }))).toEqual([`${at}.operator invalid`]);
    expect(reasonsOf(withSelector({ matchBinaries: [{}] }))).toEqual([
      ...['operator is missing', 'values is missing'],
    ]);
    const long = 'x'.repeat(129);
    expect(refusedAt(binaries({ operator: 'Postfix', values: [long] }))).toEqual([
      `${at}.values[0] invalid`,
    ]);
    expect(refusedAt(binaries({ operator: 'Prefix', values: [long] }))).toEqual([]);
    expect(refusedAt(binaries({ values: Array(8).fill('a') }))).toEqual([]);
    expect(refusedAt(binaries({ values: Array(9).fill('a') }))).toEqual([`${at}.values invalid`]);
    expect(refusedAt(binaries({ surprise: 1 }))).toEqual([`${at}.surprise invalid`]);
  });
});

describe('the namespaces of a selector', () => {
  const namespaces = (change: Part) =>
    withSelector({
      matchNamespaces: [{ namespace: 'Pid', operator: 'In', values: [1], ...change }],
    });
  const KINDS = 'Uts Ipc Mnt Pid PidForChildren Net Time TimeForChildren Cgroup User'.split(' ');

  it('should be told by their place in the engine’s list', () => {
    expect(NAMESPACES).toEqual(KINDS);
    for (const [kind, namespace] of KINDS.entries()) {
      expect(selectorOf(namespaces({ namespace, operator: 'NotIn' })).namespaces).toEqual([
        { kind, isNot: true, values: [1] },
      ]);
    }
  });

  it('should be the node’s own or named by number', () => {
    const values = ['host_ns', '1', 4_294_967_295, '4026531836'];
    expect(selectorOf(namespaces({ values })).namespaces).toEqual([
      { kind: 3, isNot: false, values: ['host', 1, 4_294_967_295, 4_026_531_836] },
    ]);
    for (const wrong of [
      0,
      '01',
      -1,
      4_294_967_296,
      '40265318360',
      'host',
      'x1',
      '1x',
      null,
      [1],
    ]) {
      expect(refusedAt(namespaces({ values: [wrong] }))).toEqual([
        `${AT}.matchNamespaces[0].values[0] invalid`,
      ]);
    }
  });

  it('should be refused where something of them is none', () => {
    expect(refusedAt(namespaces({ namespace: 'pid' }))).toEqual([
      `${AT}.matchNamespaces[0].namespace invalid`,
    ]);
    expect(reasonsOf(withSelector({ matchNamespaces: [{}] }))).toEqual([
      ...['namespace is missing', 'operator is missing', 'values is missing'],
    ]);
    const many = Array(11).fill({ namespace: 'Pid', operator: 'In', values: [1] });
    expect(refusedAt(withSelector({ matchNamespaces: many }))).toEqual([
      `${AT}.matchNamespaces invalid`,
    ]);
    expect(refusedAt(namespaces({ values: [1, 2, 3, 4, 5] }))).toEqual([
      `${AT}.matchNamespaces[0].values invalid`,
    ]);
  });
});

describe('the capabilities of a selector', () => {
  const capabilities = (change: Part) =>
    withSelector({ matchCapabilities: [{ operator: 'In', values: ['CAP_BPF'], ...change }] });
  // As the kernel counts them in linux/capability.h.
  const BITS =
    'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE ' +
    'NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO ' +
    'SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME ' +
    'SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG ' +
    'WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE';

  it('should be told by the bits of the kernel', () => {
    const all = BITS.split(' ').map((name) => `CAP_${name}`);
    expect(CAPABILITIES).toEqual(all);
    expect(selectorOf(capabilities({ values: all })).capabilities).toEqual([
      { set: 'effective', isNot: false, values: all.map((_, bit) => bit) },
    ]);
  });

  it.each(['Effective', 'Permitted', 'Inheritable'])('should be of the set %s', (type) => {
    const text = capabilities({ type, operator: 'NotIn', isNamespaceCapability: false });
    expect(selectorOf(text).capabilities).toEqual([
      { set: type.toLowerCase(), isNot: true, values: [39] },
    ]);
  });

  it('should be refused where something of them is none', () => {
    const at = `${AT}.matchCapabilities[0]`;
    expect(refusedAt(capabilities({ type: 'Ambient' }))).toEqual([`${at}.type invalid`]);
    expect(refusedAt(capabilities({ values: ['CAP_NONE'] }))).toEqual([`${at}.values[0] invalid`]);
    expect(refusedAt(capabilities({ values: [['CAP_BPF']] }))).toEqual([`${at}.values[0] invalid`]);
    expect(refusedAt(capabilities({ isNamespaceCapability: true }))).toEqual([
      `${at}.isNamespaceCapability engine_cannot`,
    ]);
    expect(reasonsOf(withSelector({ matchCapabilities: [{}] }))).toEqual([
      ...['operator is missing', 'values is missing'],
    ]);
    const one = { operator: 'In', values: ['CAP_BPF'] };
    const many = (count: number) => withSelector({ matchCapabilities: Array(count).fill(one) });
    expect(refusedAt(many(4))).toEqual([]);
    expect(refusedAt(many(5))).toEqual([`${AT}.matchCapabilities invalid`]);
  });
});

describe('what a selector does', () => {
  const does = (...actions: unknown[]) => withSelector({ matchActions: actions });
  const ofLsm = (...actions: unknown[]) => withLsm({ selectors: [{ matchActions: actions }] });
  const acts = (text: string) => {
    const { isSilent, signal, override } = selectorOf(text);
    return [isSilent, signal, override];
  };
  const at = `${AT}.matchActions[0]`;

  it('should be what its actions say, together', () => {
    expect(acts(does({ action: 'Post' }))).toEqual([false, 0, 0]);
    expect(acts(does({ action: 'NoPost' }))).toEqual([true, 0, 0]);
    expect(acts(does({ action: 'Sigkill' }))).toEqual([false, 9, 0]);
    expect(acts(does({ action: 'Signal', argSig: 1 }))).toEqual([false, 1, 0]);
    expect(acts(does({ action: 'Signal', argSig: 64 }))).toEqual([false, 64, 0]);
    expect(acts(does({ action: 'NoPost' }, { action: 'Sigkill' }))).toEqual([true, 9, 0]);
    expect(acts(ofLsm({ action: 'Override', argError: -1 }))).toEqual([false, 0, 1]);
    expect(acts(ofLsm({ action: 'Override', argError: -4_095 }))).toEqual([false, 0, 4_095]);
    const both = [{ action: 'Override', argError: -13 }, { action: 'NoPost' }];
    expect(acts(ofLsm(...both))).toEqual([true, 0, 13]);
  });

  it('should be refused where an action contradicts another', () => {
    expect(refusedAt(does({ action: 'Post' }, { action: 'NoPost' }))).toEqual([`${AT} invalid`]);
    const killed = [{ action: 'Sigkill' }, { action: 'Signal', argSig: 2 }];
    expect(refusedAt(does(...killed))).toEqual([`${AT} invalid`]);
    expect(refusedAt(does({ action: 'Post' }, { action: 'Post' }))).toEqual([
      `${AT}.matchActions[1].action invalid`,
    ]);
  });

  it('should be refused with an argument of another action, or without its own', () => {
    expect(refusedAt(does({ action: 'Post', argSig: 1 }))).toEqual([`${at}.argSig invalid`]);
    expect(refusedAt(does({ action: 'Post', argError: -1 }))).toEqual([`${at}.argError invalid`]);
    expect(reasonsOf(does({ action: 'Signal' }))).toEqual(['argSig is missing']);
    expect(reasonsOf(ofLsm({ action: 'Override' }))).toEqual(['argError is missing']);
    expect(reasonsOf(does({}))).toEqual(['action is missing']);
    expect(reasonsOf(does({ argSig: 1 }))).toEqual(['action is missing']);
    for (const argSig of [0, 65, 'SIGTERM']) {
      expect(refusedAt(does({ action: 'Signal', argSig }))).toEqual([`${at}.argSig invalid`]);
    }
    for (const argError of [0, 1, -4_096]) {
      expect(refusedAt(ofLsm({ action: 'Override', argError }))).toEqual([
        'spec.lsmhooks[0].selectors[0].matchActions[0].argError invalid',
      ]);
    }
  });

  it('should answer in the place of the kernel only in a hook of the LSM', () => {
    const text = does({ action: 'Override', argError: -1 });
    expect(refusedAt(text)).toEqual([`${at}.action engine_cannot`]);
  });

  it.each([
    ...['FollowFD', 'UnfollowFD', 'CopyFD', 'GetUrl', 'DnsLookup', 'TrackSock', 'UntrackSock'],
    ...['NotifyEnforcer', 'CleanupEnforcerNotification', 'Set'],
  ])('should be left to other engines by %s', (action) => {
    expect(refusedAt(does({ action }))).toEqual([`${at}.action engine_cannot`]);
  });

  it.each([
    ...['rateLimit', 'rateLimitScope', 'argFd', 'argName', 'argUrl', 'argFqdn', 'argSock'],
    ...['argIndex', 'argValue', 'argRegs', 'kernelStackTrace', 'userStackTrace', 'imaHash'],
  ])('should be left to other engines with %s', (field) => {
    expect(refusedAt(does({ action: 'Post', [field]: true }))).toEqual([
      `${at}.${field} engine_cannot`,
    ]);
  });

  it('should be four actions at most, each one there is', () => {
    expect(refusedAt(does({ action: 'Kill' }))).toEqual([`${at}.action invalid`]);
    expect(refusedAt(does({ action: 'Post', surprise: 1 }))).toEqual([`${at}.surprise invalid`]);
    const many = Array(5).fill({ action: 'Post' });
    expect(refusedAt(does(...many))).toEqual([`${AT}.matchActions invalid`]);
    const off = { action: 'Post', kernelStackTrace: false, userStackTrace: false, imaHash: false };
    expect(refusedAt(does(off))).toEqual([]);
  });
});
