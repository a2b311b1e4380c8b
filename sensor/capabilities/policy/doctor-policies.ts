// What `doctor` says of `compiled-policies/`: judged as the engine that is chosen judges them, since each takes another
// language, short of what only that engine and its kernel can say. decision: D45, D46
import type { SensorConfig } from '../../config/config.ts';
import type { EngineKind } from '../../engine/choice.ts';
import { readKernel } from '../../engine/kernel.ts';
import { judgePolicy } from '../../engine/policy/judge-policies.ts';
import { EBPF_BOUNDS, readPolicyFiles } from '../../engine/policy/policy-files.ts';
import { readWanted } from '../../engine/tetragon/compiled-policies.ts';
import { diskFiles } from '../../state-directory/file-port.ts';
import { readPoliciesOf } from './read-policies.ts';

export type PolicyCheck = { readonly isGood: boolean; readonly text: string };

const UNSIGNED = 'not signed although this node has a key';

/** One line a policy; nothing for an empty folder. Never rejects. */
export async function checkPolicies(
  config: Pick<SensorConfig, 'stateDir' | 'strictPolicies'>,
  engine: EngineKind,
): Promise<readonly PolicyCheck[]> {
  const { stateDir } = config;
  const pack = await ofConsole(config);
  if (engine === 'tetragon') return [...pack, ...(await byTetragon(stateDir))];
  return [...pack, ...(await byHand(config, engine))];
}

/** What the Console wants here, as far as it lies on the disk. */
async function ofConsole(
  config: Pick<SensorConfig, 'stateDir' | 'strictPolicies'>,
): Promise<readonly PolicyCheck[]> {
  const { pack, problem } = await readPoliciesOf(config);
  if (problem !== null) return [{ isGood: false, text: `${problem}; it is asked for again` }];
  if (pack === null) return [];
  const { pack_id, version, mode, policies } = pack;
  const text = `pack ${pack_id} version ${version}, mode ${mode}: ${policies.length} policies, every signature is good`;
  return [{ isGood: true, text }];
}

async function byHand(
  { stateDir, strictPolicies }: Pick<SensorConfig, 'stateDir' | 'strictPolicies'>,
  engine: EngineKind,
): Promise<readonly PolicyCheck[]> {
  const bounds = { ...EBPF_BOUNDS, isStrict: strictPolicies };
  const found = await readPolicyFiles(diskFiles, stateDir, bounds);
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
