// Whether a policy's sidecar is by a key this node trusts: the one it got when it enrolled, or what came after it. Ed25519 as RFC 8032 has it: of the keys and
// signatures that only some libraries take, none. decision: D45
import { createHash } from 'node:crypto';
import { policyMessage } from '../../../machines/trust/policy-signature.rules.ts';

// On one line, or wrapped at 64 characters as `openssl base64` does.
const SIDECAR = /^[A-Za-z0-9+/]{64}(?:\r?\n)?[A-Za-z0-9+/]{22}==\r?\n?$/;

type Signed = {
  readonly name: string;
  readonly yaml: Uint8Array;
  readonly sidecar: string;
  /** `policy-signing.pub`: one or more keys. */
  readonly keyPem: string;
};

/** Undefined when the signature is genuine; otherwise why it is not taken. Never rejects. */
export async function whyNotGenuine(given: Signed): Promise<string | undefined> {
  const { policyKeysOf, signerOf } = await import('../../../actors/runtime/policy-keys.ts');
  const keys = policyKeysOf(given.keyPem);
  if (keys.length === 0) return 'policy-signing.pub holds no Ed25519 key';
  if (!SIDECAR.test(given.sidecar)) return 'the sidecar holds no signature in base64';
  const text = given.sidecar.replaceAll(/[\r\n]/g, '');
  const signature = Buffer.from(text, 'base64');
  // The last character has bits to spare: one text for one signature.
  if (signature.toString('base64') !== text) return 'the sidecar holds no signature in base64';
  try {
    if (signerOf(signature, policyMessage(given.name, given.yaml), keys) !== null) return undefined;
  } catch {
    // A name that is none.
  }
  return 'the signature is not by policy-signing.pub, or not for this name and content';
}

/** The same answers, each worked out once while it is among the last `max`: a folder is read far more often than it is
 * another, and a signature costs a millisecond. */
export function rememberVerdicts(max: number): typeof whyNotGenuine {
  const known = new Map<string, string | undefined>();
  return async (given) => {
    const { name, yaml, sidecar, keyPem } = given;
    const id = createHash('sha256')
      .update(JSON.stringify([name, sidecar, keyPem]))
      .update(yaml)
      .digest('hex');
    if (!known.has(id)) {
      const verdict = await whyNotGenuine(given);
      if (known.size >= max) known.clear();
      known.set(id, verdict);
    }
    return known.get(id);
  };
}
