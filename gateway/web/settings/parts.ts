// The parts of the settings, with the scope that each needs.
import { SETTINGS_TEXTS as TEXTS } from './texts.ts';

export const SETTINGS_PARTS = [
  ['/settings/general', TEXTS.general, 'settings:read'],
  ['/settings/users', TEXTS.users, 'users:read'],
  ['/settings/teams', TEXTS.teams, 'teams:read'],
  ['/settings/groups', TEXTS.groups, 'groups:read'],
  ['/settings/sso', TEXTS.sso, 'sso:read'],
  ['/settings/webhooks', TEXTS.webhooks, 'webhooks:read'],
  ['/settings/siem', TEXTS.siem, 'siem:read'],
  ['/settings/digests', TEXTS.digests, 'digests:read'],
  ['/settings/exports', TEXTS.exports, 'exports:read'],
  ['/settings/api-keys', TEXTS.keys, 'users:read'],
  ['/settings/tokens', TEXTS.tokens, 'tokens:read'],
  ['/settings/license', TEXTS.license, 'license:read'],
] as const;
