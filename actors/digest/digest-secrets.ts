// The secret of a digest: the password of its mail server, or what its webhook is signed with. Sealed in the database, opened
// for the moment of sending. invariant: I11; decision: D166
import type { DigestRow } from '../../storage/ports/digest/digest-store.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';

/** Whose secret it is, as the seal binds it. */
export function secretContextOfDigest(digestId: string): string {
  return `digest/${digestId}`;
}

/** Opens it: null where there is none, `lost` when no key opens it any more. */
export function openDigestSecret(
  { digestId, secretSealed }: Pick<DigestRow, 'digestId' | 'secretSealed'>,
  sealer: Sealer,
): { readonly secret: string | null } | 'lost' {
  if (secretSealed === null) return { secret: null };
  const secret = sealer.open(secretSealed, secretContextOfDigest(digestId));
  return secret === null ? 'lost' : { secret };
}
