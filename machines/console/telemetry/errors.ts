// The refusals that telemetry declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const TELEMETRY_ERRORS = {
  sequence_conflict: {
    status: 409,
    title: 'This sequence number holds other content',
    action: 'Send the batch under a new number.',
  },
} as const satisfies ErrorEntries;
