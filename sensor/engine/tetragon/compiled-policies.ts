// The policies for a Tetragon: what the one reader of `compiled-policies/` took, named inside as its file is. What else a
// policy may say is Tetragon's to judge, so that its whole language is let through. decision: D46
import {
  TETRAGON_POLICIES_MAX,
  TETRAGON_POLICY_MAX_BYTES,
} from '../../../machines/sensor/policy-limits.ts';
import { diskFiles, type Files } from '../../state-directory/file-port.ts';
import { type FoundPolicy, type PolicyBounds, readPolicyFiles } from '../policy/policy-files.ts';
import { rememberVerdicts } from '../policy/signature.ts';
import type { WantedPolicy } from './policy-keeper.ts';
import { readPolicy } from './policy-text.ts';

export type JudgedPolicy = { readonly wanted: WantedPolicy; readonly isUnsigned: boolean };

/** Reads the policies once, each with whether it lacks a signature beside a key. Never rejects. */
export async function readWanted(
  files: Files,
  stateDir: string,
  bounds: PolicyBounds = boundsOf(),
): Promise<readonly JudgedPolicy[]> {
  const found = await readPolicyFiles(files, stateDir, bounds);
  return found.map((one) => ({
    wanted: wantedOf(one),
    isUnsigned: one.ok && one.isUnsigned,
  }));
}

/** Reads the policies anew at every call; `tell` hears once of each that is unsigned beside a key. Never rejects. */
export function createPolicySource(
  stateDir: string,
  tell: (problem: string) => void,
  files: Files = diskFiles,
): () => Promise<readonly WantedPolicy[]> {
  const bounds = boundsOf();
  let told = new Set<string>();
  return async () => {
    const judged = await readWanted(files, stateDir, bounds);
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

function wantedOf(found: FoundPolicy): WantedPolicy {
  if (!found.ok) return found;
  const { name } = found;
  const reading = readPolicy(found.yaml);
  if (!reading.ok) return { ok: false, name, reason: reading.reason };
  // The name that is signed is the file's; the one that Tetragon goes by is the policy's own.
  if (reading.policy.name === name) return reading;
  return { ok: false, name, reason: `metadata.name: must be ${name}, as its file is` };
}
