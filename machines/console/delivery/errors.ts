// The refusals that delivery declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const DELIVERY_ERRORS = {
  webhook_refused: {
    status: 422,
    title: 'The webhook cannot be used like this',
    action: 'Correct the named fields.',
  },
  webhook_conflict: {
    status: 409,
    title: 'The webhook was changed meanwhile',
    action: 'Read it again and repeat the change.',
  },
  webhooks_full: {
    status: 409,
    title: 'There are as many webhooks as there may be',
    action: 'Remove one first.',
  },
  webhook_has_no_secret: {
    status: 409,
    title: 'This webhook has no signing secret to rotate',
    action: 'Give it one with a change.',
  },
  delivery_not_ended: {
    status: 409,
    title: 'The delivery is still on its way',
    action: 'Wait until it is delivered or dead.',
  },
} as const satisfies ErrorEntries;
