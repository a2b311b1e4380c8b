// What is written into the audit log about what operators say of sensors and teams.
import type { AuditActions } from '../../audit-action.ts';

export const FLEET_AUDIT_ACTIONS = {
  'sensor.change': 'Labels, note or owners of a sensor were changed.',
  'user.sensors': 'The sensors that a person owns were changed.',
  'team.create': 'A team was made.',
  'team.change': 'A team was changed.',
  'team.remove': 'A team was removed.',
  'team.members': 'The members of a team were changed.',
  'group.create': 'A group of sensors was made.',
  'group.change': 'A group of sensors was changed.',
  'group.remove': 'A group of sensors was removed.',
  'group.members': 'The members of a group were changed.',
} as const satisfies AuditActions;
