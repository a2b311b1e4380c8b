// Packs, signed and verified by the same functions in both programs and on the command line. A pack is good only as a whole:
// every policy by its name, and the manifest over all of them, by trusted keys. decision: D80
import { hash } from 'node:crypto';
import {
  manifestBytes,
  manifestMessage,
  manifestOf,
  mistakesOfManifest,
  type PackManifest,
} from '../../machines/policy/manifest.rules.ts';
import { policyMessage } from '../../machines/trust/policy-signature.rules.ts';
import type { PackHead, SignedPack, SignedPolicy } from '../../machines/wire/policy.ts';
import { type PolicyKey, signerOf } from './policy-keys.ts';

export type SignBytes = (message: Uint8Array) => Uint8Array;
export type PackVerdict =
  | {
      readonly ok: true;
      readonly manifest: PackManifest;
      readonly manifestSha256: string;
      /** The key that signed the manifest. */
      readonly keyId: string;
    }
  | { readonly ok: false; readonly pointer: string; readonly reason: string };

/** SHA-256 of a policy's text. */
export function policyDigest(yaml: string): string {
  return hash('sha256', yaml, 'hex');
}

/** SHA-256 of a manifest's canonical bytes. */
export function manifestDigest(manifest: PackManifest): string {
  return hash('sha256', manifestBytes(manifest), 'hex');
}

/** Signs one policy by its name. */
export function signPolicy(
  policy: { readonly name: string; readonly yaml: string },
  sign: SignBytes,
): SignedPolicy {
  const { name, yaml } = policy;
  const message = policyMessage(name, Buffer.from(yaml));
  return { name, yaml, signature: Buffer.from(sign(message)).toString('base64') };
}

/** Signs every policy and the manifest. Throws on text that has no canonical form. */
export function signPack(
  head: PackHead,
  policies: readonly { readonly name: string; readonly yaml: string }[],
  sign: SignBytes,
): SignedPack {
  const pack = { ...head, policies: policies.map((one) => signPolicy(one, sign)) };
  const manifest = manifestOf(pack, digestsOf(pack));
  const signature = Buffer.from(sign(manifestMessage(manifest))).toString('base64');
  return { ...pack, manifest_signature: signature };
}

/** Verifies a pack that fits its schema against trusted keys. Never throws. */
export function verifyPack(pack: SignedPack, keys: readonly PolicyKey[]): PackVerdict {
  const manifest = manifestOf(pack, digestsOf(pack));
  const [mistake] = mistakesOfManifest(manifest);
  if (mistake !== undefined) return refused(mistake.pointer, mistake.detail);
  for (const [place, policy] of pack.policies.entries()) {
    if (!isSigned(policy, keys)) {
      return refused(
        `/policies/${place}/signature`,
        `${policy.name} is not signed by a trusted key`,
      );
    }
  }
  const key = signerOf(bytesOf(pack.manifest_signature), manifestMessage(manifest), keys);
  if (key === null) return refused('/manifest_signature', 'it is not by a trusted key');
  return { ok: true, manifest, manifestSha256: manifestDigest(manifest), keyId: key.id };
}

/** Whether one policy's signature is by a trusted key, for its name and content. Never throws. */
export function isSigned(
  { name, yaml, signature }: SignedPolicy,
  keys: readonly PolicyKey[],
): boolean {
  if (!yaml.isWellFormed()) return false;
  try {
    return signerOf(bytesOf(signature), policyMessage(name, Buffer.from(yaml)), keys) !== null;
  } catch {
    // A name that is none.
    return false;
  }
}

// One text for one signature: what decodes to the same bytes is another text.
function bytesOf(signature: string): Uint8Array {
  const bytes = Buffer.from(signature, 'base64');
  return bytes.toString('base64') === signature ? bytes : new Uint8Array();
}

function digestsOf(pack: Pick<SignedPack, 'policies'>): readonly string[] {
  return pack.policies.map(({ yaml }) => policyDigest(yaml));
}

function refused(pointer: string, reason: string): PackVerdict {
  return { ok: false, pointer, reason };
}
