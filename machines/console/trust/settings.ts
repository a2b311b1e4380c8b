// The settings that trust declares; `../setting-list.ts` names all. decision: D38
import Type from 'typebox';
import {
  CLIENT_CERTIFICATE_TTL_MS,
  ENROLLMENT_TOKEN_TTL_MS,
  RENEWAL_DUE_MS,
  RENEWAL_RECOMMENDED_MS,
  TOKEN_TTL_MAX_MS,
  TOKEN_TTL_MIN_MS,
} from '../../limits.ts';
import { HOUR_MS, SECOND_MS } from '../../units.ts';
import { live, type SettingDefinitions } from '../settings/setting.ts';

const CERTIFICATE_TTL_HOURS_MAX = 17_520;
const RENEWAL_THRESHOLD_SECONDS_MIN = 3_600;

export const TRUST_SETTINGS = {
  enrollment_token_ttl_seconds: {
    schema: Type.Integer({
      minimum: TOKEN_TTL_MIN_MS / SECOND_MS,
      maximum: TOKEN_TTL_MAX_MS / SECOND_MS,
    }),
    default: ENROLLMENT_TOKEN_TTL_MS / SECOND_MS,
    ...live('How long a new enrollment token can be used.'),
  },
  client_certificate_ttl_hours: {
    schema: Type.Integer({
      minimum: RENEWAL_RECOMMENDED_MS / HOUR_MS + 1,
      maximum: CERTIFICATE_TTL_HOURS_MAX,
    }),
    default: CLIENT_CERTIFICATE_TTL_MS / HOUR_MS,
    ...live('How long the next certificates of sensors are valid.'),
  },
  renewal_threshold_seconds: {
    schema: Type.Integer({
      minimum: RENEWAL_THRESHOLD_SECONDS_MIN,
      maximum: RENEWAL_RECOMMENDED_MS / SECOND_MS - 1,
    }),
    default: RENEWAL_DUE_MS / SECOND_MS,
    ...live('How long before its end the renewal of a certificate is due.'),
  },
} as const satisfies SettingDefinitions;
