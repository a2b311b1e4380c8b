// How a capability declares a setting.
import type { TSchema } from 'typebox';

/** `live`: a change counts at once, everywhere; `next_start`: when the Console starts again. */
export type Applies = 'live' | 'next_start';
export type SettingDefinition = {
  readonly schema: TSchema;
  readonly default: unknown;
  readonly applies: Applies;
  readonly about: string;
};
export type SettingDefinitions = Readonly<Record<string, SettingDefinition>>;

/** A change counts at once, everywhere. */
export const live = (about: string) => ({ applies: 'live', about }) as const;
/** A change counts when the Console starts again. */
export const atStart = (about: string) => ({ applies: 'next_start', about }) as const;
