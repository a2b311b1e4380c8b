// Which of several hooks the engine takes, on whatever kernel these tests run: the best that can be attached, and a reason
// for each that would have been better. What a kernel attaches is proven to see, or to refuse; what it does not is named.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parsePolicy } from '../../../actors/runtime/parse-policy.ts';
import { sentenceOfRefusal } from '../../../machines/policy/located.ts';
import { compileFile, compilePolicy } from '../policy/compile-policy.ts';
import { launchBy, type Running, skipReason, stopEngine, until } from './engine-rig.ts';

const refused = skipReason('hooks of the ebpf engine');

const DEADLINE_MS = 120_000;
const BETTER = ['lsm/file_open', 'fentry/security_file_open', 'kprobe/security_file_open'];
const SETUID = '__x64_sys_setresuid';
const REALTIME = 'Linux version 6.12.1-rt (x) #1 SMP PREEMPT_RT x86_64\n';

let directory = '';
let watched = '';
let engine: Running | null = null;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'hooks-'));
  watched = path.join(directory, 'secret');
  writeFileSync(watched, 'x');
  engine = null;
});
afterEach(async () => {
  if (engine !== null) await stopEngine(engine);
  rmSync(directory, { recursive: true, force: true });
});

/** Each file of another node that this engine sees in the place of its own. */
async function start(seen: Readonly<Record<string, string>>, ...flags: string[]) {
  const mounts = Object.entries(seen).map(([file, text], i) => {
    const other = path.join(directory, `seen-${i}`);
    writeFileSync(other, text);
    return `mount --bind ${other} ${file}`;
  });
  const script = [...mounts, 'exec "$0" "$@"'].join(' && ');
  engine = await launchBy(['unshare', '-m', 'sh', '-c', script], directory, ...flags).hello;
  return engine;
}

const policyOf = (hook: string, action: string, mode = 'enforce') => {
  const [type, file] = hook === 'file_open' ? ['file', watched] : ['linux_binprm', '/nowhere'];
  return `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: hooked}
spec:
  options: [{name: policy-mode, value: ${mode}}]
  lsmhooks:
    - hook: ${hook}
      args: [{index: 0, type: ${type}}]
      selectors:
        - matchArgs: [{index: 0, operator: Equal, values: [${file}]}]
          matchActions: [${action}]
`;
};
const OVERRIDE = '{action: Override, argError: -1}';
const POST = '{action: Post}';

/** What an engine says of this one policy. */
async function judged(text: string, seen: Readonly<Record<string, string>> = {}) {
  const result = parsePolicy(text);
  if (!result.ok) throw new Error(result.refusals.map(sentenceOfRefusal).join('\n'));
  const file = path.join(directory, 'policies');
  const digest = createHash('sha256').update(text).digest('hex');
  writeFileSync(file, compileFile(1, [compilePolicy(result.policy, digest)]), { mode: 0o600 });
  const { words } = await start(seen, '--policy-file', file);
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const word = words.find((one) => one['policy'] === 'hooked');
    if (word !== undefined) return { state: word['state'], reason: String(word['reason']) };
    if (Date.now() > deadline) throw new Error(`never judged: ${JSON.stringify(words)}`);
    await wait(10);
  }
}

describe.skipIf(refused !== undefined)('hooks of the ebpf engine', () => {
  it('should see opens by the best hook the kernel attaches, and name each better one', async () => {
    const { hello, file } = await start({}, '--watch-path', watched);
    const reasons = new Map(hello.disabled_hooks.map(({ hook, reason }) => [hook, reason]));
    const taken = BETTER.findIndex((one) => !reasons.has(one));
    const inVain = taken < 0 ? BETTER : BETTER.slice(0, taken);
    expect(BETTER.filter((one) => reasons.has(one))).toEqual(inVain);
    // The verifier takes the program: it is to attach it that fails.
    if (taken < 0) expect(reasons.get(BETTER[2] ?? '')).toMatch(/^it cannot be attached: /);
    const blind = reasons.get('io_uring') ?? (taken < 0 ? 'opens' : '');
    expect(blind.startsWith('opens')).toBe(taken < 0);
    expect(/processes, opens/.test(reasons.get('ia32') ?? '')).toBe(
      reasons.has('ia32') && taken >= 0,
    );
    spawnSync('cat', [watched]);
    const lines = await until(file, (all) =>
      all.some(({ body }) => body.function_name === 'security_file_open'),
    );
    expect(lines.filter(({ body }) => body.function_name === 'security_file_open')).toHaveLength(1);
  });

  it('should attach every hook where nobody has mounted what it needs', async () => {
    const bare = 'for one in tracefs debugfs bpf cgroup2; do umount -a -t $one; done';
    const check = '! grep -qE " (tracefs|debugfs|bpf|cgroup2) " /proc/mounts';
    const script = `${bare}; ${check} && exec "$0" "$@"`;
    engine = await launchBy(['unshare', '-m', 'sh', '-c', script], directory).hello;
    expect(engine.hello.disabled_hooks.filter(({ missing }) => missing === true)).toEqual([]);
    spawnSync('perl', ['-e', 'setpgrp; $> = 65534']);
    await until(engine.file, (all) => all.some(({ body }) => body.function_name === SETUID));
  });

  it.each(['file_open', 'bprm_check_security'])(
    'should refuse in the place of the kernel only where it allows it: %s',
    async (hook) => {
      const { state, reason } = await judged(policyOf(hook, OVERRIDE));
      if (state === 'enforcing') {
        expect(reason).toBe('');
        if (hook === 'file_open') expect(() => readFileSync(watched)).toThrow('EPERM');
        return;
      }
      expect(state).toBe('failed');
      const at = hook === 'file_open' ? 'security_file_open' : 'security_bprm_check';
      expect(reason).toMatch(new RegExp(`^lsm/${hook}: .*; fmod_ret/${at}: [^;]*$`));
    },
  );

  it('should answer for no function on a PREEMPT_RT kernel', async () => {
    const seen = { '/proc/version': REALTIME };
    const { state, reason } = await judged(policyOf('file_open', OVERRIDE), seen);
    if (state === 'enforcing') return; // by the LSM, which such a kernel may have
    expect(reason).toContain(
      'fmod_ret/security_file_open: it stays off on a PREEMPT_RT kernel (BPF_MODIFY_RETURN)',
    );
  });

  it.each([
    ['file_open', POST, 'enforce'],
    ['file_open', OVERRIDE, 'monitor'],
    ['bprm_check_security', POST, 'enforce'],
  ])('should watch at the function entry where nothing is refused: %s %s', async (...policy) => {
    const { state, reason } = await judged(policyOf(...policy));
    if (state !== 'failed') {
      if (policy[0] !== 'file_open') return;
      spawnSync('cat', [watched]);
      await until(path.join(directory, 'events.log'), (all) =>
        all.some(({ body }) => 'policy_name' in body),
      );
      return;
    }
    expect(reason.split('; ').map((one) => one.split('/')[0])).toEqual([
      'lsm',
      'fmod_ret',
      'fentry',
      'kprobe',
    ]);
    expect(reason).toMatch(/kprobe\/security_\w+: it cannot be attached: [^;]*$/);
  });
});
