// The settings that license declares; `../setting-list.ts` names all. decision: D38
import Type from 'typebox';
import { LICENSE_GRACE_DAYS, LICENSE_GRACE_DAYS_MAX } from '../../limits.ts';
import { live, type SettingDefinitions } from '../settings/setting.ts';

export const LICENSE_SETTINGS = {
  license_grace_days: {
    schema: Type.Integer({ minimum: 0, maximum: LICENSE_GRACE_DAYS_MAX }),
    default: LICENSE_GRACE_DAYS,
    ...live(
      'The grace of a license that is signed here without one; a signed license keeps its own.',
    ),
  },
} as const satisfies SettingDefinitions;
