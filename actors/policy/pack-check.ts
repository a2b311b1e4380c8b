// What publishing says of each policy: what is wrong with its line and column, which engines can honour it, what it waits
// for and does. The judge is the one that nodes have. decision: D80
import { enginesFor, hooksOf, isForOthers } from '../../machines/policy/engines.rules.ts';
import { PACK_BODY_MAX_BYTES, POLICY_FILE_MAX_BYTES } from '../../machines/policy/limits.ts';
import type { PolicyRefusal } from '../../machines/policy/located.ts';
import { POLICY_NAME } from '../../machines/trust/policy-signature.rules.ts';
import { parsePolicy } from '../runtime/parse-policy.ts';

export type CheckedPolicy = {
  readonly name: string;
  /** Whether any engine can honour it. */
  readonly ok: boolean;
  readonly engines: ReturnType<typeof enginesFor>;
  readonly hooks: ReturnType<typeof hooksOf>;
  /** Of a policy that is for other engines than `ebpf`: why that one cannot. */
  readonly refusals: readonly PolicyRefusal[];
};
type Text = { readonly name: string; readonly yaml: string };

/** Checks one policy. Never throws. */
export function checkPolicy({ name, yaml }: Text): CheckedPolicy {
  const wrong = (reason: string): CheckedPolicy => ({
    ...{ name, ok: false, engines: [], hooks: [] },
    refusals: [{ path: '', line: 1, column: 1, reason, code: 'invalid' }],
  });
  if (!POLICY_NAME.test(name)) {
    return wrong('its name must be 1 to 63 small letters, digits, dots, dashes or lines');
  }
  if (!yaml.isWellFormed() || yaml.includes('\0')) return wrong('it is no text');
  if (Buffer.byteLength(yaml) > POLICY_FILE_MAX_BYTES) {
    return wrong(`it has more than ${POLICY_FILE_MAX_BYTES} bytes`);
  }
  const result = parsePolicy(yaml);
  if (!result.ok) {
    const engines = enginesFor(name, result);
    const ok = isForOthers(result.refusals) && engines.length > 0;
    return { name, ok, engines, hooks: [], refusals: result.refusals };
  }
  if (result.policy.name !== name) return wrong(`metadata.name must be ${name}`);
  const hooks = hooksOf(result.policy.hooks);
  return { name, ok: true, engines: enginesFor(name, result), hooks, refusals: [] };
}

/** Checks every policy of a draft, in their order. */
export function checkPolicies(policies: readonly Text[]): readonly CheckedPolicy[] {
  return policies.map(checkPolicy);
}

/** Whether a pack is small enough to be downloaded as one. */
export function isWithinBody(pack: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(pack)) <= PACK_BODY_MAX_BYTES;
}
