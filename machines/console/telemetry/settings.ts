// The settings that telemetry declares; `../setting-list.ts` names all. decision: D38
import Type from 'typebox';
import { ANALYTICS_RETENTION_DAYS, RETENTION_DAYS_MAX } from '../../limits.ts';
import { live, type SettingDefinitions } from '../settings/setting.ts';

export const TELEMETRY_SETTINGS = {
  analytics_retention_days: {
    schema: Type.Integer({ minimum: 1, maximum: RETENTION_DAYS_MAX }),
    default: ANALYTICS_RETENTION_DAYS,
    ...live('How long runtime events, and all else in the analytics database, are kept.'),
  },
} as const satisfies SettingDefinitions;
