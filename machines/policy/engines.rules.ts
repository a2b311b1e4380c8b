// Which engine can honour a policy, as far as its text tells: what is wrong for every engine, what only the `ebpf` engine
// cannot do, and what each needs of the kernel. The node has the last word. decision: D80
import { POLICY_REFUSALS_MAX } from './limits.ts';
import { signalName } from './linux-numbers.ts';
import type { PolicyRefusal } from './located.ts';
import type { PolicyHook } from './policy.ts';
import type { PolicyResult } from './read-policy.ts';

export const POLICY_ENGINES = ['ebpf', 'tetragon', 'procfs'] as const;
export type PolicyEngine = (typeof POLICY_ENGINES)[number];

// Tetragon wants the name of a Kubernetes object.
const TETRAGON_NAME = /^[a-z0-9]([a-z0-9.-]{0,118}[a-z0-9])?$/;

/** The engines that can honour a policy, by its name; none when it is wrong. `procfs` acts on nothing. */
export function enginesFor(name: string, result: PolicyResult): readonly PolicyEngine[] {
  const isNamed = TETRAGON_NAME.test(name);
  if (result.ok) return isNamed ? ['ebpf', 'tetragon'] : ['ebpf'];
  return isNamed && isForOthers(result.refusals) ? ['tetragon'] : [];
}

/** Whether nothing is wrong but that the `ebpf` engine cannot do it. A list that is full may have left something out. */
export function isForOthers(refusals: readonly PolicyRefusal[]): boolean {
  return (
    refusals.length < POLICY_REFUSALS_MAX && refusals.every(({ code }) => code === 'engine_cannot')
  );
}

export type HookSummary = {
  readonly kind: PolicyHook['kind'];
  readonly event: string;
  /** What it does besides telling, such as `SIGKILL` or `override`. */
  readonly acts: readonly string[];
  /** Only a kernel that has it takes the policy. */
  readonly needs: 'bpf_lsm' | null;
};

/** What each hook of a policy waits for and does. */
export function hooksOf(hooks: readonly PolicyHook[]): readonly HookSummary[] {
  return hooks.map(({ kind, event, selectors }) => {
    const acts = selectors.flatMap(({ signal, override }) => [
      ...(signal === 0 ? [] : [signalName(signal)]),
      ...(override === 0 ? [] : ['override']),
    ]);
    return { kind, event, acts: [...new Set(acts)], needs: kind === 'lsm' ? 'bpf_lsm' : null };
  });
}
