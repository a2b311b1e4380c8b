// The refusals that detection declares; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const DETECTION_ERRORS = {
  search_too_large: {
    status: 422,
    title: 'The search reads too much',
    action: 'Narrow the time range, name a sensor, or add a condition.',
  },
  rule_refused: {
    status: 422,
    title: 'The rule cannot be used like this',
    action: 'Correct the named fields.',
  },
  rule_conflict: {
    status: 409,
    title: 'The rule was changed meanwhile',
    action: 'Read it again and repeat the change.',
  },
  rules_full: {
    status: 409,
    title: 'There are as many rules as there may be',
    action: 'Remove one first.',
  },
  alert_state_refuses: {
    status: 409,
    title: 'The state of the alert does not take this',
    action: 'Read the alert again; a settled one is opened again first.',
  },
} as const satisfies ErrorEntries;
