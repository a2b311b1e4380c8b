// A sealer that hides nothing and keeps contexts apart: for tests, whose stores nobody reads.
import type { Sealer } from '../../ports/plumbing/sealer.ts';

/** Makes the sealer. */
export function createPlainSealer(): Sealer {
  return {
    seal: (text, context) => `${context}|${text}`,
    open: (sealed, context) =>
      sealed.startsWith(`${context}|`) ? sealed.slice(context.length + 1) : null,
    isCurrent: () => true,
  };
}
