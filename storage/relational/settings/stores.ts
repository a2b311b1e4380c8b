// The store of settings in PostgreSQL.
import type { SettingsStores } from '../../ports/settings/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createSettingsStore } from './settings-store.ts';

/** Opens every store of this capability. */
export function openSettingsStores({ db }: RelationalContext): SettingsStores {
  return {
    settings: createSettingsStore(db),
  };
}
