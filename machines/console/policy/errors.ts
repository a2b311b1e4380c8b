// The refusals that policies declare; `../error-list.ts` names all.
import type { ErrorEntries } from '../../error-entry.ts';

export const POLICY_ERRORS = {
  draft_changed: {
    status: 409,
    title: 'Somebody changed the draft meanwhile',
    action: 'Read the draft again and repeat the change on it.',
  },
  version_not_newer: {
    status: 409,
    title: 'A version of a pack must be newer than the one before',
    action: 'Publish it under the next number; what is published never changes.',
  },
  signing_offline: {
    status: 409,
    title: 'This Console signs nothing',
    action: 'Sign it with `service-console policies sign --key FILE`, and publish it as it is.',
  },
  mode_not_signed: {
    status: 409,
    title: 'The mode is not among those the pack was signed for',
    action: 'Choose one of modes_allowed, or publish a version that allows it.',
  },
  scope_not_signed: {
    status: 409,
    title: 'The namespaces are wider than the pack was signed for',
    action: 'Choose namespaces within namespace_scope, or publish a version that allows them.',
  },
  rollback_refused: {
    status: 409,
    title: 'The signed pack does not allow a return to this version',
    action: 'Publish the older content as a new version; a node refuses an older one.',
  },
  policy_refused: {
    status: 422,
    title: 'A policy is not right',
    action: 'Correct what is named with its line and column.',
  },
  signature_not_trusted: {
    status: 422,
    title: 'A signature is not by a key that nodes trust',
    action: 'Sign it with a trusted key; `service-console policies keys` names them.',
  },
  rotation_refused: {
    status: 422,
    title: 'The statement changes no key',
    action:
      'Sign it with a trusted key, with the next number, and name no retired key as the new one.',
  },
  assignment_changed: {
    status: 409,
    title: 'The assignment is another one by now',
    action: 'Look at what it rehearsed again, and repeat it with the assignment there is.',
  },
  not_rehearsing: {
    status: 409,
    title: 'The assignment does not monitor',
    action: 'Only what monitors can be enforced as rehearsed; `packs assign` changes the rest.',
  },
  rollout_in_the_way: {
    status: 409,
    title: 'A rollout is under way on these sensors',
    action: 'Wait for its end or abort it; `service-console rollouts list` names it.',
  },
  rollout_reaches_nobody: {
    status: 409,
    title: 'No sensor would have this version',
    action: 'Choose another target, or assign the version: whoever comes later has it.',
  },
  rollout_state: {
    status: 409,
    title: 'The rollout is not in a state for that',
    action: 'See `service-console rollouts get`; what has ended cannot be changed.',
  },
} as const satisfies ErrorEntries;
