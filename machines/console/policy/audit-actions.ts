// What is written into the audit log about policies, packs, assignments and the keys that sign them.
import type { AuditActions } from '../../audit-action.ts';

export const POLICY_AUDIT_ACTIONS = {
  'pack.create': 'A pack of policies was created.',
  'pack.draft': 'The draft of a pack was changed.',
  'pack.publish': 'A version of a pack was published.',
  'assignment.set': 'A pack was assigned to sensors.',
  'assignment.enforce': 'A pack that was rehearsed in monitor is enforced.',
  'assignment.remove': 'An assignment was ended.',
  'policy.sign': 'A single policy was signed with the key of the Console.',
  'policy.custom': 'The policies of one sensor were changed.',
  'policy.enforcement': 'The enforcement of a sensor was switched.',
  'signing_key.begin': 'The Console took its first key that signs policies.',
  'signing_key.rotate': 'The keys that sign policies were changed.',
  'rollout.start': 'A version began to be rolled out to a target in stages.',
  'rollout.advance': 'A rollout went on to its next stage.',
  'rollout.pause': 'A rollout was paused.',
  'rollout.resume': 'A rollout was told to go on.',
  'rollout.abort': 'A rollout was aborted.',
  'rollout.halt': 'A gate of a rollout failed, and it stands still.',
  'rollout.return': 'A gate of a rollout failed, and its sensors return to what they had.',
  'rollout.end': 'A rollout ended.',
} as const satisfies AuditActions;
