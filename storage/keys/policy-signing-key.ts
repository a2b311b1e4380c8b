// The Ed25519 key that signs policies, in `policy-signing.ed25519`; its public half is handed to sensors at enrollment.
// invariant: I7
import { type OpenSigningKeyResult, openSigningKey, type SigningKey } from './signing-key.ts';

export type PolicySigningKey = SigningKey;

/** Opens the key of a folder, and makes it at first start; a file that cannot be used is never replaced. */
export function openPolicySigningKey({
  folder,
}: {
  readonly folder: string;
}): Promise<OpenSigningKeyResult> {
  return openSigningKey({
    folder,
    name: 'policy-signing.ed25519',
    what: 'the policy signing key',
  });
}
