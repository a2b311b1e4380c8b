// From what was found in the folder to what the engine is given: read, named as its file is, compiled. The reader of YAML
// is loaded only when there is a policy, because this program lives on every node. decision: D45
import { sentenceOfRefusal } from '../../../machines/policy/located.ts';
import type { FoundPolicy } from './policy-files.ts';

export type JudgedPolicy =
  | {
      readonly ok: true;
      readonly name: string;
      readonly digest: string;
      readonly compiled: string;
      readonly isUnsigned: boolean;
    }
  | { readonly ok: false; readonly name: string; readonly reason: string };

const REASON_MAX_CHARS = 512;

/** Never rejects. */
export async function judgePolicy(found: FoundPolicy): Promise<JudgedPolicy> {
  if (!found.ok) return found;
  const { name, digest, isUnsigned } = found;
  const [{ parsePolicy }, { compilePolicy }] = await Promise.all([
    import('../../../actors/runtime/parse-policy.ts'),
    import('./compile-policy.ts'),
  ]);
  const result = parsePolicy(found.yaml);
  if (!result.ok) {
    const reason = result.refusals.map(sentenceOfRefusal).join('; ');
    return { ok: false, name, reason: reason.slice(0, REASON_MAX_CHARS) };
  }
  // The name that is signed is the file's; the one that is told is the policy's own.
  if (result.policy.name !== name) {
    return { ok: false, name, reason: `metadata.name: must be ${name}, as its file is` };
  }
  return { ok: true, name, digest, isUnsigned, compiled: compilePolicy(result.policy, digest) };
}
