// The refusals that license declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const LICENSE_ERRORS = {
  license_limit: {
    status: 403,
    title: 'The license allows no further sensor',
    action: 'Import a license with more nodes.',
  },
  license_ended: {
    status: 409,
    title: 'The license has ended',
    action: 'Import a license whose grace period lasts.',
  },
  license_refused: {
    status: 422,
    title: 'The license is not genuine',
    action: 'Import the file unchanged, as it was issued for this Console.',
  },
} as const satisfies ErrorEntries;
