// The settings that delivery declares; `../setting-list.ts` names all. decision: D38
import Type from 'typebox';
import { WEBHOOK_ALLOW_LIST_MAX } from '../../limits.ts';
import { live, type SettingDefinitions } from '../settings/setting.ts';

const NOWHERE: readonly string[] = [];

export const DELIVERY_SETTINGS = {
  webhook_allow_list: {
    schema: Type.Array(Type.String({ maxLength: 255 }), { maxItems: WEBHOOK_ALLOW_LIST_MAX }),
    default: NOWHERE,
    ...live(
      'Private host names, addresses and networks that whatever leaves the Console may reach: webhooks, SIEM, mail, buckets, identity providers.',
    ),
  },
} as const satisfies SettingDefinitions;
