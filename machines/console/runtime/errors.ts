// The refusals that periodic work declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const RUNTIME_ERRORS = {
  loop_off_duty: {
    status: 409,
    title: 'This Console does not run this loop now',
    action: 'Ask the designated Console; `service-console loops list` names it.',
  },
} as const satisfies ErrorEntries;
