// The settings that federation declares; `../setting-list.ts` names all. decision: D38
import Type from 'typebox';
import { SETTING_TEXT_MAX_CHARS } from '../../limits.ts';
import { type SettingDefinitions, waiting } from '../settings/setting.ts';

export const FEDERATION_ROLES = ['standalone', 'regional', 'central'] as const;
type FederationRole = (typeof FEDERATION_ROLES)[number];
const ALONE: FederationRole = 'standalone';

export const FEDERATION_SETTINGS = {
  federation_role: {
    schema: Type.Enum([...FEDERATION_ROLES]),
    default: ALONE,
    ...waiting('How this Console takes part in a federation.'),
  },
  federation_region: {
    schema: Type.String({ pattern: '^([a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?)?$' }),
    default: '',
    ...waiting('The identifier of this region.'),
  },
  federation_region_label: {
    schema: Type.String({ maxLength: SETTING_TEXT_MAX_CHARS }),
    default: '',
    ...waiting('The region as people read it.'),
  },
} as const satisfies SettingDefinitions;
