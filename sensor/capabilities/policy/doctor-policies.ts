// What `doctor` says of `compiled-policies/`: judged as the engine that is chosen judges them, since each takes another
// language, short of what only that engine and its kernel can say. decision: D45, D46
import type { EngineKind } from '../../engine/choice.ts';
import { readKernel } from '../../engine/kernel.ts';
import { judgePolicy } from '../../engine/policy/judge-policies.ts';
import { readPolicyFiles } from '../../engine/policy/policy-files.ts';
import { readWanted } from '../../engine/tetragon/compiled-policies.ts';
import { diskFiles } from '../../state-directory/file-port.ts';

export type PolicyCheck = { readonly isGood: boolean; readonly text: string };

const UNSIGNED = 'not signed although this node has a key';

/** One line a policy; nothing for an empty folder. Never rejects. */
export async function checkPolicies(
  stateDir: string,
  engine: EngineKind,
): Promise<readonly PolicyCheck[]> {
  if (engine === 'tetragon') return await byTetragon(stateDir);
  const found = await readPolicyFiles(diskFiles, stateDir);
  if (engine === 'procfs') {
    return found.map((one) => {
      const reason = one.ok ? 'the engine procfs carries out no policies' : one.reason;
      return { isGood: false, text: `${one.name}: ${reason}` };
    });
  }
  const judged = await Promise.all(found.map(judgePolicy));
  return judged.map((one) =>
    one.ok ? taken(one.name, one.isUnsigned ? [UNSIGNED] : []) : refused(one),
  );
}

async function byTetragon(stateDir: string): Promise<readonly PolicyCheck[]> {
  const { preemptRt } = await readKernel();
  const judged = await readWanted(stateDir, { isPreemptRt: preemptRt });
  return judged.map(({ wanted, isUnsigned }) =>
    wanted.ok
      ? taken(wanted.policy.name, [
          ...(isUnsigned ? [UNSIGNED] : []),
          'what it says is for Tetragon to judge',
        ])
      : refused(wanted),
  );
}

function taken(name: string, remarks: readonly string[]): PolicyCheck {
  return { isGood: true, text: [`${name} is taken`, ...remarks].join(', ') };
}

function refused(one: { readonly name: string; readonly reason: string }): PolicyCheck {
  return { isGood: false, text: `${one.name}: ${one.reason}` };
}
