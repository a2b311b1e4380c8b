// What is kept of digests.
import type { DigestStore } from './digest-store.ts';

export type DigestStores = { readonly digests: DigestStore };
