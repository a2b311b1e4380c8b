// The refusals that event forwarding declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const SIEM_ERRORS = {
  siem_destination_refused: {
    status: 422,
    title: 'The SIEM destination cannot be used like this',
    action: 'Correct the named fields.',
  },
  siem_destination_conflict: {
    status: 409,
    title: 'The SIEM destination was changed meanwhile, or its name is taken',
    action: 'Read it again and repeat the change.',
  },
  siem_destinations_full: {
    status: 409,
    title: 'There are as many SIEM destinations as there may be',
    action: 'Remove one first.',
  },
} as const satisfies ErrorEntries;
