// The reference stores of this capability, as calls.
import type { SettingsStores } from '../../ports/settings/stores.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { settingsCalls } from './settings-store.ts';

/** The calls on empty stores. */
export function settingsStores(base: MemoryBase): StoreCalls<SettingsStores> {
  return { settings: settingsCalls(base) };
}
