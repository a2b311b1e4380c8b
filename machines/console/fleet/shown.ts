// What is shown of a sensor's labels, its signs of life and its identity.
import type { ShownField } from '../shown-field.ts';

export const role: ShownField = {
  ...{ title: 'Role', rank: 0 },
  read: (sensor) => sensor.declared_role ?? '',
};
export const groups: ShownField = {
  ...{ title: 'Groups', rank: 1 },
  read: (sensor) => sensor.group_ids.join(','),
};
export const teams: ShownField = {
  ...{ title: 'Teams', rank: 2 },
  read: (sensor) => sensor.team_ids.join(','),
};
export const freshness: ShownField = {
  ...{ title: 'Freshness', rank: 50 },
  read: (sensor) => sensor.states?.freshness ?? '',
};
export const enrolled: ShownField = {
  ...{ title: 'Enrolled', rank: 51 },
  read: (sensor) => sensor.enrolled_at,
};
export const revoked: ShownField = {
  ...{ title: 'Revoked', rank: 52 },
  read: (sensor) => sensor.revoked_at ?? '',
};
export const reason: ShownField = {
  ...{ title: 'Reason', rank: 53 },
  read: (sensor) => sensor.revoked_reason ?? '',
};
