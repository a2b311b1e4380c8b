// Documents for the tests of the reader of policies, each as it stands but for one part, and what the reader says of it.
import { parsePolicy } from '../../actors/runtime/parse-policy.ts';
import type { Policy, PolicyHook, PolicySelector } from '../../machines/policy/policy.ts';

export type Part = Readonly<Record<string, unknown>>;
export const CALL: Part = { call: 'sys_openat', syscall: true };
export const POINT: Part = { subsystem: 'sched', event: 'sched_process_exec' };
export const LSM: Part = { hook: 'file_open' };

/** A policy with one hook that posts everything; `change` stands beside or in the place of its fields. */
export function documentOf(change: Part = {}): string {
  return JSON.stringify({
    apiVersion: 'cilium.io/v1alpha1',
    kind: 'TracingPolicy',
    metadata: { name: 'one' },
    spec: { kprobes: [CALL] },
    ...change,
  });
}
export const withSpec = (spec: Part) => documentOf({ spec: { kprobes: [CALL], ...spec } });
export const withCall = (change: Part) => withSpec({ kprobes: [{ ...CALL, ...change }] });
export const withPoint = (change: Part) =>
  documentOf({ spec: { tracepoints: [{ ...POINT, ...change }] } });
export const withLsm = (change: Part) =>
  documentOf({ spec: { lsmhooks: [{ ...LSM, ...change }] } });
export const withSelector = (selector: Part) => withCall({ selectors: [selector] });

/** Where a document is refused and as what; none: it is taken. */
export function refusedAt(text: string): readonly string[] {
  const result = parsePolicy(text);
  return result.ok ? [] : result.refusals.map(({ path, code }) => `${path} ${code}`);
}

/** The sentences of the refusals, without their places. */
export function reasonsOf(text: string): readonly string[] {
  const result = parsePolicy(text);
  return result.ok ? [] : result.refusals.map(({ reason }) => reason);
}

export function policyOf(text: string): Policy {
  const result = parsePolicy(text);
  if (!result.ok) throw new Error(JSON.stringify(result.refusals));
  return result.policy;
}
export function hookOf(text: string): PolicyHook {
  const [hook] = policyOf(text).hooks;
  if (hook === undefined) throw new Error('a policy without a hook');
  return hook;
}
export function selectorOf(text: string): PolicySelector {
  const [selector] = hookOf(text).selectors;
  if (selector === undefined) throw new Error('a hook without a selector');
  return selector;
}
