// The reference stores of this capability, as calls.
import type { DigestStores } from '../../ports/digest/stores.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { memoryDigestCalls } from './digest-store.ts';

/** The calls on empty stores. */
export function digestStores(base: MemoryBase): StoreCalls<DigestStores> {
  return { digests: memoryDigestCalls(base) };
}
