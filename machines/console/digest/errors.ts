// The refusals that the digest declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const DIGEST_ERRORS = {
  digest_refused: {
    status: 422,
    title: 'The digest cannot be used like this',
    action: 'Correct the named fields.',
  },
  digest_conflict: {
    status: 409,
    title: 'The digest was changed meanwhile, or its name is taken',
    action: 'Read it again and repeat the change.',
  },
  digests_full: {
    status: 409,
    title: 'There are as many digests as there may be',
    action: 'Remove one first.',
  },
} as const satisfies ErrorEntries;
