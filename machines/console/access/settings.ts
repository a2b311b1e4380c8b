// The settings that access declares; `../setting-list.ts` names all. decision: D38
import Type from 'typebox';
import { SESSION_ABSOLUTE_MS, SESSION_IDLE_MS, SESSION_LIFETIME_HOURS_MAX } from '../../limits.ts';
import { ROLES, type Role } from '../../trust/roles.rules.ts';
import { HOUR_MS, MINUTE_MS } from '../../units.ts';
import { live, type SettingDefinitions } from '../settings/setting.ts';

// When a session was last used is written once a minute: a shorter idle time could not be told from that.
const SESSION_IDLE_MINUTES_MIN = 5;
const WITH_POWER: readonly Role[] = ['sensor_owner', 'operator', 'admin'];

export const ACCESS_SETTINGS = {
  mfa_required_roles: {
    schema: Type.Array(Type.Enum([...ROLES]), { uniqueItems: true, maxItems: ROLES.length }),
    default: WITH_POWER,
    ...live(
      'The roles that need a second factor; a quick start, which is an evaluation, asks none unless this is set.',
    ),
  },
  session_idle_minutes: {
    schema: Type.Integer({
      minimum: SESSION_IDLE_MINUTES_MIN,
      maximum: SESSION_LIFETIME_HOURS_MAX * (HOUR_MS / MINUTE_MS),
    }),
    default: SESSION_IDLE_MS / MINUTE_MS,
    ...live('A session ends after this time without a request.'),
  },
  session_lifetime_hours: {
    schema: Type.Integer({ minimum: 1, maximum: SESSION_LIFETIME_HOURS_MAX }),
    default: SESSION_ABSOLUTE_MS / HOUR_MS,
    ...live('A session ends after this time in any case.'),
  },
} as const satisfies SettingDefinitions;
