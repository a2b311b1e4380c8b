import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../../../actors/runtime/parse-policy.ts';
import { sentenceOfRefusal } from '../../../machines/policy/located.ts';
import { workOf } from '../../../props/yardstick.ts';
import { compileFile, compilePolicy } from './compile-policy.ts';

const WRITE = `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata:
  name: keep-secret
spec:
  options:
    - name: policy-mode
      value: enforce
  kprobes:
    - call: sys_write
      syscall: true
      message: nobody writes here
      tags: [integrity]
      args:
        - index: 0
          type: fd
        - index: 1
          type: char_buf
          sizeArgIndex: 3
          label: what
        - index: 2
          type: size_t
      selectors:
        - matchPIDs:
            - operator: NotIn
              values: [0, 1]
              isNamespacePID: true
          matchBinaries:
            - operator: NotIn
              values: [/usr/bin/passwd]
          matchNamespaces:
            - namespace: Pid
              operator: NotIn
              values: [host_ns]
          matchCapabilities:
            - type: Effective
              operator: In
              values: [CAP_SYS_ADMIN, CAP_CHOWN]
          matchArgs:
            - index: 0
              operator: Prefix
              values: [/etc/secret/, /srv/a b]
            - index: 2
              operator: InRange
              values: ["1:0x10"]
          matchActions:
            - action: Sigkill
            - action: NoPost
`;

function refusalsOf(text: string): readonly string[] {
  const result = parsePolicy(text);
  return result.ok ? [] : result.refusals.map(sentenceOfRefusal);
}

/** The example with one line in the place of another. */
function withLine(from: string, to: string): string {
  expect(WRITE).toContain(from);
  return WRITE.replace(from, to);
}

describe('a tracing policy for the ebpf engine', () => {
  it('should become lines the engine reads, cheap filters first', () => {
    const result = parsePolicy(WRITE);
    if (!result.ok) throw new Error(refusalsOf(WRITE).join('\n'));
    expect(compileFile(3, [compilePolicy(result.policy, 'd1')]).split('\n')).toEqual([
      'policies 1 3',
      'policy keep-secret enforce d1',
      'hook call syscalls write',
      'message nobody%20writes%20here',
      'tag integrity',
      'arg 0 fd - -',
      'arg 1 bytes 2 what',
      'arg 2 u64 - -',
      'selector',
      'pids not own 0 1',
      'ns 3 not host',
      `caps effective in ${2 ** 21 + 1}`,
      'match 0 prefix in /etc/secret/ /srv/a%20b',
      'match 2 range in 1:16',
      'match binary equal not /usr/bin/passwd',
      'act silent 9 0',
      'end',
      '',
    ]);
  });

  it.each([
    ['      syscall: true', '      syscall: false', 'spec.kprobes[0].syscall: ', 'line 11'],
    ['call: sys_write', 'call: security_file_open', 'spec.kprobes[0].call: ', 'line 10'],
    ['          type: fd', '          type: sock', 'spec.kprobes[0].args[0].type: ', 'line 16'],
    ['operator: Prefix', 'operator: SAddr', 'matchArgs[0].operator: ', 'line 41'],
    ['action: NoPost', 'action: Override', 'matchActions[1].action: ', 'line 48'],
    [
      'action: NoPost',
      'action: Post\n              rateLimit: 5m',
      'matchActions[1].rateLimit: ',
      '',
    ],
    ['isNamespacePID: true', 'followForks: true', 'matchPIDs[0].followForks: ', 'line 27'],
    ['values: [0, 1]', 'values: [0, 1, 2, 3, 4]', 'matchPIDs[0].values: must have 1 to 4', ''],
    ['value: enforce', 'value: audit', 'spec.options[0].value: must be monitor or enforce', ''],
    ['name: policy-mode', 'name: disable-kprobe-multi', 'spec.options[0].name: ', 'line 7'],
    ['  kprobes:', '  podSelector: {}\n  kprobes:', 'spec.podSelector: ', 'line 9'],
    ['  kprobes:', '  surprise: 1\n  kprobes:', 'spec.surprise: there is no such field', 'line 9'],
    ['kind: TracingPolicy', 'kind: TracingPolicyNamespaced', 'kind: must be', 'line 2'],
    ['name: keep-secret', 'name: ../x', 'metadata.name: ', 'line 4'],
    ['["1:0x10"]', '["1:99999999999999999999"]', 'matchArgs[1].values[0]: ', ''],
    ['tags: [integrity]', 'tags: [monitored.sigkill]', 'spec.kprobes[0].tags[0]: ', 'line 13'],
    ['tags: [integrity]', 'tags: &a [integrity]', 'anchors are not taken', 'line 13'],
    ['tags: [integrity]', 'tags: !x [integrity]', '', 'line 13'],
    ['tags: [integrity]', 'tags: [a, a', '', 'line'],
    ['tags: [integrity]', 'return: true', 'spec.kprobes[0].return: ', 'line 13'],
    ['CAP_CHOWN', 'CAP_NONE', 'matchCapabilities[0].values[1]: ', ''],
    ['namespace: Pid', 'namespace: Pod', 'matchNamespaces[0].namespace: ', ''],
  ])('should be refused by the exact field: %s -> %s', (from, to, path, line) => {
    const refusals = refusalsOf(withLine(from, to));
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toContain(path);
    expect(refusals[0]).toContain(line);
  });

  it('should be told of every mistake at once', () => {
    const text = withLine('call: sys_write', 'call: tcp_connect').replace('host_ns', 'guest');
    expect(refusalsOf(text)).toHaveLength(2);
  });

  it('should be refused when it is too large, too deep, or no document', async () => {
    for (const text of [
      `${WRITE}# ${'x'.repeat(70_000)}`,
      '['.repeat(60_000),
      `${'- '.repeat(30_000)}a`,
      `${'a: {'.repeat(60)}`,
      'a: &a [x]\nb: [*a, *a]\n',
      '---\na: 1\n---\nb: 2\n',
      'a: 1\na: 2\n',
      '',
      'null',
      '<<: {a: 1}',
      '? [a]\n: b',
    ]) {
      const workMs = await workOf(() => {
        expect(refusalsOf(text).length, text.slice(0, 40)).toBeGreaterThan(0);
      });
      expect(workMs).toBeLessThan(2_000);
    }
  });

  it('should take tracepoints by field and hooks of the LSM that this engine has', () => {
    const text = `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: more}
spec:
  tracepoints:
    - subsystem: sched
      event: sched_process_exec
      args: [{index: 4, type: string}, {index: 5}]
      selectors:
        - matchArgs: [{args: [0], operator: Postfix, values: [/nc]}]
          matchActions: [{action: Signal, argSig: 10}]
  lsmhooks:
    - hook: file_open
      args: [{index: 0, type: file}]
      selectors:
        - matchArgs: [{index: 0, operator: Equal, values: [/etc/shadow]}]
          matchActions: [{action: Override, argError: -1}]
`;
    const result = parsePolicy(text);
    if (!result.ok) throw new Error(refusalsOf(text).join('\n'));
    expect(compilePolicy(result.policy, 'd').split('\n')).toEqual(
      expect.arrayContaining([
        'hook tracepoint sched sched_process_exec',
        'match 0 postfix in /nc',
        'act post 10 0',
        'hook lsm lsm file_open',
        'act post 0 1',
      ]),
    );
  });
});
