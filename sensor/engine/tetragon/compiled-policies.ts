// The policies for a Tetragon: what the one reader of `compiled-policies/` took, named inside as its file is. What else a
// policy may say is Tetragon's to judge, so that its whole language is let through. decision: D46
import {
  TETRAGON_POLICIES_MAX,
  TETRAGON_POLICY_MAX_BYTES,
} from '../../../machines/sensor/policy-limits.ts';
import { readText } from '../../state-directory/atomic-file.ts';
import { diskFiles, type Files } from '../../state-directory/file-port.ts';
import { STATE_FILES } from '../../state-directory/identity.ts';
import { readHeldNow } from '../policy/held-policies.ts';
import {
  type FoundPolicy,
  joinedPolicies,
  type PolicyBounds,
  readPolicyFiles,
} from '../policy/policy-files.ts';
import { rememberVerdicts } from '../policy/signature.ts';
import { policiesInForce } from '../policy/verified-set.ts';
import type { WantedPolicy } from './policy-keeper.ts';
import { monitored, overridesOf, readPolicy } from './policy-text.ts';

export type JudgedPolicy = { readonly wanted: WantedPolicy; readonly isUnsigned: boolean };
type How = {
  readonly files?: Files;
  /** Whether the kernel is one whose verifier refuses what Override in a kprobe needs. */
  readonly isPreemptRt?: boolean;
  /** What is laid by hand needs a signature, too. */
  readonly isStrict?: boolean | undefined;
  /** What the Console wants here; absent: nothing. */
  readonly held?: () => Promise<readonly FoundPolicy[]>;
};

// Tetragon may carry it out through BPF_MODIFY_RETURN; which way it took shows only in what the verifier says.
const NO_OVERRIDE = 'Override in a kprobe stays off on a PREEMPT_RT kernel (BPF_MODIFY_RETURN)';
const REASON_MAX_CHARS = 512;

/** Reads the policies once, each with whether it lacks a signature beside a key. Never rejects. */
export async function readWanted(
  stateDir: string,
  how: How = {},
  bounds: PolicyBounds = boundsOf(),
): Promise<readonly JudgedPolicy[]> {
  const { files = diskFiles, isPreemptRt = false, held = NONE_HELD } = how;
  const own = await readPolicyFiles(files, stateDir, {
    ...bounds,
    isStrict: how.isStrict === true,
  });
  const found = joinedPolicies(own, await held());
  return found.map((one) => ({
    wanted: wantedOf(one, isPreemptRt),
    isUnsigned: one.ok && one.isUnsigned,
  }));
}

/** What the Console wants here, from the disk, verified anew where it is another; what cannot be read now is as it was. */
function heldPolicies(
  stateDir: string,
  files: Files = diskFiles,
): () => Promise<readonly FoundPolicy[]> {
  let known = '';
  let last: readonly FoundPolicy[] = [];
  return async () => {
    const names = [STATE_FILES.assignedPack, STATE_FILES.policyKey];
    const texts = await Promise.all(names.map((one) => readText(files, stateDir, one))).catch(
      () => null,
    );
    const text = JSON.stringify(texts);
    if (texts === null || text === known) return last;
    const found = await readHeldNow(files, stateDir);
    if (found?.ok !== true) return last;
    known = text;
    last = policiesInForce(found.held, found.sets);
    return last;
  };
}

const NONE_HELD = async (): Promise<readonly FoundPolicy[]> => [];

/** Reads the policies anew at every call; `tell` hears once of each that is unsigned beside a key. Never rejects. */
export function createPolicySource(
  stateDir: string,
  tell: (problem: string) => void,
  how: How = {},
): () => Promise<readonly WantedPolicy[]> {
  const bounds = boundsOf();
  const held = how.held ?? heldPolicies(stateDir, how.files);
  let told = new Set<string>();
  return async () => {
    const judged = await readWanted(stateDir, { ...how, held }, bounds);
    const unsigned = judged
      .filter(({ isUnsigned }) => isUnsigned)
      .map(({ wanted }) => nameOf(wanted));
    for (const name of unsigned) {
      if (!told.has(name)) tell(`policy ${name} is not signed, although this node has a key`);
    }
    told = new Set(unsigned);
    return judged.map(({ wanted }) => wanted);
  };
}

function boundsOf(): PolicyBounds {
  return {
    policiesMax: TETRAGON_POLICIES_MAX,
    bytesMax: TETRAGON_POLICY_MAX_BYTES,
    whyNotGenuine: rememberVerdicts(TETRAGON_POLICIES_MAX),
  };
}

function nameOf(wanted: WantedPolicy): string {
  return wanted.ok ? wanted.policy.name : wanted.name;
}

function wantedOf(found: FoundPolicy, isPreemptRt: boolean): WantedPolicy {
  if (!found.ok) return found;
  const { name } = found;
  const reading = readPolicy(found.monitors === true ? monitored(found.yaml) : found.yaml);
  if (!reading.ok) return { ok: false, name, reason: reading.reason };
  // The name that is signed is the file's; the one that Tetragon goes by is the policy's own.
  if (reading.policy.name !== name) {
    return { ok: false, name, reason: `metadata.name: must be ${name}, as its file is` };
  }
  const overrides = isPreemptRt ? overridesOf(found.yaml) : [];
  if (overrides.length === 0) return reading;
  const reason = `${overrides.join(', ')}: ${NO_OVERRIDE}`;
  return { ok: false, name, reason: reason.slice(0, REASON_MAX_CHARS) };
}
