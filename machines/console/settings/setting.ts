// How a capability declares a setting.
import type { TSchema } from 'typebox';

/**
 * `live`: a change counts at once, everywhere; `waiting`: it is checked and kept, and this version does not act on it.
 */
export const APPLIES = ['live', 'waiting'] as const;
export type Applies = (typeof APPLIES)[number];
export type SettingDefinition = {
  readonly schema: TSchema;
  readonly default: unknown;
  readonly applies: Applies;
  readonly about: string;
  /** Once it has this value nobody takes it back through the Console; only the file of the Console stands above it. */
  readonly final?: unknown;
};
export type SettingDefinitions = Readonly<Record<string, SettingDefinition>>;

/** A change counts at once, everywhere. */
export const live = (about: string) => ({ applies: 'live', about }) as const;
/** A change is kept for a version that acts on it; whoever reads the setting is told so. */
export const waiting = (about: string) =>
  ({
    applies: 'waiting',
    about: `${about} It waits: this version keeps it and does not act on it yet.`,
  }) as const;
