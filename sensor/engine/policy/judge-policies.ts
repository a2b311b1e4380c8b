// From what was found in the folder to what the engine is given: read, named as its file is, compiled. The reader of YAML
// is loaded only when there is a policy, because this program lives on every node. decision: D45
import { isForOthers } from '../../../machines/policy/engines.rules.ts';
import { type RefusalCode, sentenceOfRefusal } from '../../../machines/policy/located.ts';
import type { FoundPolicy } from './policy-files.ts';

export type JudgedPolicy =
  | {
      readonly ok: true;
      readonly name: string;
      readonly digest: string;
      readonly compiled: string;
      readonly isUnsigned: boolean;
      readonly from?: 'pack' | 'custom';
    }
  | {
      readonly ok: false;
      readonly name: string;
      readonly reason: string;
      readonly from?: 'pack' | 'custom';
      /** Wrong for every engine, or beyond this one. */
      readonly code?: RefusalCode;
    };

const REASON_MAX_CHARS = 512;

/** Never rejects. */
export async function judgePolicy(found: FoundPolicy): Promise<JudgedPolicy> {
  if (!found.ok) return found;
  const { name, digest, isUnsigned, from } = found;
  const origin = from === undefined ? {} : { from };
  const [{ parsePolicy }, { compilePolicy }] = await Promise.all([
    import('../../../actors/runtime/parse-policy.ts'),
    import('./compile-policy.ts'),
  ]);
  const result = parsePolicy(found.yaml);
  if (!result.ok) {
    const reason = result.refusals.map(sentenceOfRefusal).join('; ');
    const code = isForOthers(result.refusals) ? 'engine_cannot' : 'invalid';
    return { ok: false, name, reason: reason.slice(0, REASON_MAX_CHARS), code, ...origin };
  }
  // The name that is signed is the file's; the one that is told is the policy's own.
  if (result.policy.name !== name) {
    const reason = `metadata.name: must be ${name}, as its file is`;
    return { ok: false, name, reason, code: 'invalid', ...origin };
  }
  const mode = found.monitors === true ? 'monitor' : result.policy.mode;
  const compiled = compilePolicy({ ...result.policy, mode }, digest);
  return { ok: true, name, digest, isUnsigned, compiled, ...origin };
}
