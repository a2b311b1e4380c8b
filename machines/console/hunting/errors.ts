// The refusals that hunting declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const HUNTING_ERRORS = {
  document_conflict: {
    status: 409,
    title: 'It was changed meanwhile',
    action: 'Read it again and repeat the change.',
  },
  documents_full: {
    status: 409,
    title: 'There are as many of them as there may be',
    action: 'Remove one first.',
  },
  search_name_taken: {
    status: 409,
    title: 'Another one has this name',
    action: 'Choose another name, or change that one.',
  },
  state_refuses: {
    status: 409,
    title: 'Its state does not allow this',
    action: 'Look at its state; what is closed has to be opened again first.',
  },
} as const satisfies ErrorEntries;
