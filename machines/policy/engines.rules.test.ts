import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../../actors/runtime/parse-policy.ts';
import { enginesFor, hooksOf, isForOthers } from './engines.rules.ts';

const POLICY = `apiVersion: cilium.io/v1alpha1
kind: TracingPolicy
metadata: {name: one}
spec:
  kprobes:
    - call: sys_openat
      syscall: true
      args: [{index: 1, type: string}]
      selectors:
        - matchArgs: [{index: 1, operator: Prefix, values: [/etc/]}]
          matchActions: [{action: Sigkill}]
`;
const engines = (text: string, name = 'one') => enginesFor(name, parsePolicy(text));

describe('the engines of a policy', () => {
  it('should be both that act, for what both honour', () => {
    expect(engines(POLICY)).toEqual(['ebpf', 'tetragon']);
    expect(engines(POLICY, 'with_line')).toEqual(['ebpf']);
  });

  it.each([
    ['call: sys_openat', 'call: security_file_open'],
    ['syscall: true', 'syscall: false'],
    ['type: string', 'type: sock'],
    ['operator: Prefix', 'operator: SubString'],
    ['action: Sigkill', 'action: FollowFD'],
    ['action: Sigkill', 'action: Override'],
    ['  kprobes:', '  podSelector: {}\n  kprobes:'],
  ])('should be Tetragon alone for what the ebpf engine cannot do: %s -> %s', (from, to) => {
    expect(POLICY).toContain(from);
    const result = parsePolicy(POLICY.replace(from, to));
    expect(!result.ok && isForOthers(result.refusals)).toBe(true);
    expect(engines(POLICY.replace(from, to))).toEqual(['tetragon']);
  });

  it.each([
    ['call: sys_openat', 'call: "a b"'],
    ['type: string', 'type: strong'],
    ['operator: Prefix', 'operator: Begins'],
    ['action: Sigkill', 'action: Kill'],
    ['  kprobes:', '  surprise: 1\n  podSelector: {}\n  kprobes:'],
    ['kind: TracingPolicy', 'kind: Policy'],
  ])('should be none for what is wrong: %s -> %s', (from, to) => {
    expect(POLICY).toContain(from);
    expect(engines(POLICY.replace(from, to))).toEqual([]);
  });

  it('should be none where refusals may have been left out', () => {
    const hooks = Array.from({ length: 16 }, () => '    - call: tcp_connect\n      return: true\n');
    const text = `${POLICY.slice(0, POLICY.indexOf('    - call'))}${hooks.join('')}`;
    expect(engines(text)).toEqual([]);
  });
});

describe('the hooks of a policy', () => {
  it('should say what they do, and what only some kernels have', () => {
    const result = parsePolicy(
      `${POLICY}  lsmhooks:\n    - hook: file_open\n      args: [{index: 0, type: file}]\n      selectors: [{matchActions: [{action: Override, argError: -1}]}, {matchActions: [{action: Signal, argSig: 40}]}]\n`,
    );
    if (!result.ok) throw new Error(JSON.stringify(result.refusals));
    expect(hooksOf(result.policy.hooks)).toEqual([
      { kind: 'call', event: 'openat', acts: ['SIGKILL'], needs: null },
      { kind: 'lsm', event: 'file_open', acts: ['override', 'signal 40'], needs: 'bpf_lsm' },
    ]);
  });
});
