// The store of the license in PostgreSQL.
import type { LicenseStores } from '../../ports/license/stores.ts';
import type { RelationalContext } from '../plumbing/context.ts';
import { createLicenseStore } from './license-store.ts';

/** Opens every store of this capability. */
export function openLicenseStores({ db }: RelationalContext): LicenseStores {
  return {
    license: createLicenseStore(db),
  };
}
