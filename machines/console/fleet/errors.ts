// The refusals that fleet declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const FLEET_ERRORS = {
  not_owner: {
    status: 403,
    title: 'The sensor is not yours',
    action: 'Ask an operator, or whoever owns the sensor.',
  },
  name_taken: {
    status: 409,
    title: 'Something has this name already',
    action: 'Choose another name; upper and lower case are the same.',
  },
  bound_reached: {
    status: 409,
    title: 'There is no room for more',
    action: 'Remove what is no longer used.',
  },
  reference_unknown: {
    status: 422,
    title: 'Something that is named does not exist',
    action: 'Correct the named identifiers; nothing was changed.',
  },
} as const satisfies ErrorEntries;
