// The settings that policies declare; `../setting-list.ts` names all. decision: D38, D81
import Type from 'typebox';
import { live, type SettingDefinitions } from '../settings/setting.ts';

export const POLICY_SETTINGS = {
  policy_signing: {
    schema: Type.Enum(['console', 'offline']),
    default: 'console',
    ...live(
      'Whether the Console signs policies with a key of its own (console), or takes only what was signed elsewhere (offline). Offline is for good: only policy_signing in console.yaml stands above it.',
    ),
    // A stolen session must not bring the key back into use. decision: D127
    final: 'offline',
  },
} as const satisfies SettingDefinitions;
