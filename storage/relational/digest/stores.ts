// The stores of digests in PostgreSQL.
import type { DigestStores } from '../../ports/digest/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createDigestStore } from './digest-store.ts';

/** Opens every store of this capability. */
export function openDigestStores({ db }: RelationalContext): DigestStores {
  return { digests: createDigestStore(db) };
}
