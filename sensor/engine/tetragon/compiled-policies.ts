// The policies that lie in the state directory, under the three sidecar cases: a signature that does not verify rejects
// the policy; none while there is a key is told and accepted, for older deployments; none without a key is accepted.
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  TETRAGON_POLICIES_MAX,
  TETRAGON_POLICY_MAX_BYTES,
} from '../../../machines/sensor/policy-limits.ts';
import { STATE_FILES } from '../../state-directory/identity.ts';
import type { PolicyFile } from './policy-keeper.ts';
import { readPolicy } from './policy-text.ts';

const SIGNED_PREFIX = 'service-policy-v1:';

/** Reads the policies anew at every call; `tell` hears each problem once. Never rejects. */
export function createPolicySource(
  stateDir: string,
  tell: (problem: string) => void,
): () => Promise<readonly PolicyFile[]> {
  const told = new Set<string>();
  const tellOnce = (problem: string): void => {
    if (told.has(problem)) return;
    if (told.size > TETRAGON_POLICIES_MAX) told.clear();
    told.add(problem);
    tell(problem);
  };
  return async () => {
    const directory = path.join(stateDir, 'compiled-policies');
    const listed = await readdir(directory).catch((): string[] => []);
    const names = listed.filter((name) => /\.ya?ml$/.test(name)).sort();
    if (names.length > TETRAGON_POLICIES_MAX) tellOnce('there are more policies than are loaded');
    const key = await readKey(path.join(stateDir, STATE_FILES.policyKey));
    const found: PolicyFile[] = [];
    for (const name of names.slice(0, TETRAGON_POLICIES_MAX)) {
      const problem = await takePolicy(path.join(directory, name), key, found);
      if (problem !== undefined) tellOnce(`${name}: ${problem}`);
    }
    return found;
  };
}

/** Adds the policy unless it is refused; answers what is to be told. */
async function takePolicy(
  file: string,
  key: KeyObject | 'unreadable' | undefined,
  found: PolicyFile[],
): Promise<string | undefined> {
  const facts = await stat(file).catch(() => undefined);
  if (facts?.isFile() !== true) return 'it is no file';
  if (facts.size > TETRAGON_POLICY_MAX_BYTES) return 'it is too large';
  const yaml = await readFile(file, 'utf8').catch(() => undefined);
  if (yaml === undefined) return 'it cannot be read';
  const signature = await readFile(`${file}.sig`, 'utf8').catch(() => undefined);
  const taken = { file: path.basename(file), yaml };
  if (signature === undefined) {
    found.push(taken);
    return key === undefined ? undefined : 'it has no signature, though there is a signing key';
  }
  if (key === undefined || key === 'unreadable') return 'rejected: its signature cannot be checked';
  const reading = readPolicy(yaml);
  if (!reading.ok) return `rejected: ${reading.reason}`;
  const message = Buffer.from(`${SIGNED_PREFIX}${reading.policy.name}\n${yaml}`);
  if (!isSigned(message, key, signature)) return 'rejected: its signature does not verify';
  found.push(taken);
  return undefined;
}

function isSigned(message: Buffer, key: KeyObject, signature: string): boolean {
  try {
    return verify(null, message, key, Buffer.from(signature.trim(), 'base64'));
  } catch {
    return false;
  }
}

async function readKey(file: string): Promise<KeyObject | 'unreadable' | undefined> {
  const pem = await readFile(file, 'utf8').catch(() => undefined);
  if (pem === undefined) return undefined;
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : 'unreadable';
  } catch {
    return 'unreadable';
  }
}
