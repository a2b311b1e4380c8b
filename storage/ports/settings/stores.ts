// What is kept of settings.
import type { SettingsStore } from './settings-store.ts';

export type SettingsStores = {
  readonly settings: SettingsStore;
};
