// The keys that nodes trust, as a Console knows them: the first one, then every statement of the chain, each verified again.
// decision: D81
import { type PolicyBook, rotationsOf } from '../../machines/console/policy/book.rules.ts';
import type { TrustedKeys } from '../../machines/policy/signing-keys.rules.ts';
import {
  keysDigestOf,
  type PolicyKey,
  policyKeyOf,
  verifyRotation,
} from '../runtime/policy-keys.ts';

export type KeysInForce = {
  readonly trusted: TrustedKeys;
  readonly keys: readonly PolicyKey[];
  /** As nodes name them. */
  readonly sha256: string;
  /** What `policy-signing.pub` of a new node holds. */
  readonly pem: string;
};

/** Follows the chain as far as it verifies. */
export function keysInForce(book: Pick<PolicyBook, 'keyBases' | 'rotations'>): KeysInForce {
  const bases = [...book.keyBases.values()];
  let trusted: TrustedKeys = {
    sequence: 0,
    keys: bases.map(({ keyId, pem }) => ({ id: keyId, pem })),
    retired: [],
  };
  for (const statement of rotationsOf(book)) {
    const result = verifyRotation(trusted, statement);
    if (result.ok) trusted = result.keys;
  }
  const keys = trusted.keys.flatMap(({ pem }) => policyKeyOf(pem) ?? []);
  return {
    trusted,
    keys,
    sha256: keysDigestOf(keys.map(({ id }) => id)),
    pem: keys.map(({ pem }) => pem).join(''),
  };
}
