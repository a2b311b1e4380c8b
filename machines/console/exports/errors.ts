// The refusals that the export declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const EXPORT_ERRORS = {
  export_target_refused: {
    status: 422,
    title: 'The target of exports cannot be used like this',
    action: 'Correct the named fields.',
  },
  export_target_conflict: {
    status: 409,
    title: 'The target of exports was changed meanwhile',
    action: 'Read it again and repeat the change.',
  },
  export_target_missing: {
    status: 409,
    title: 'Exports have no target yet',
    action: 'Set one up first.',
  },
  export_day_open: {
    status: 409,
    title: 'This day is not over yet',
    action: 'Order it an hour after midnight UTC.',
  },
  export_day_expired: {
    status: 409,
    title: 'The event store keeps this day no more',
    action: 'Use the files that were exported; they stay.',
  },
  export_running: {
    status: 409,
    title: 'This day is being exported',
    action: 'Wait until it is done.',
  },
} as const satisfies ErrorEntries;
