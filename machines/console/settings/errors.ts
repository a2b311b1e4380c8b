// The refusals that settings declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const SETTINGS_ERRORS = {
  setup_code_invalid: {
    status: 401,
    title: 'The setup code is not valid',
    action: 'Enter the code that the Console printed on its terminal.',
  },
  settings_conflict: {
    status: 409,
    title: 'The settings were changed meanwhile',
    action: 'Read the settings again and repeat the change.',
  },
  setup_out_of_order: {
    status: 409,
    title: 'This step of the setup is not possible now',
    action: 'Finish the steps that the state names first.',
  },
  connection_failed: {
    status: 422,
    title: 'The connection does not work',
    action: 'Correct the address or the named reason and test it again.',
  },
  setup_required: {
    status: 503,
    title: 'The Console is not set up yet',
    action: 'Open /setup with the code that the Console printed on its terminal.',
  },
} as const satisfies ErrorEntries;
