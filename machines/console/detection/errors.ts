// The refusals that detection declares; the catalogue is `machines/errors.ts`.
import type { ErrorEntries } from '../../error-entry.ts';

export const DETECTION_ERRORS = {
  search_too_large: {
    status: 422,
    title: 'The search reads too much',
    action: 'Narrow the time range, name a sensor, or add a condition.',
  },
} as const satisfies ErrorEntries;
