// The reference stores of this capability, as calls.
import type { LicenseStores } from '../../ports/license/stores.ts';
import type { MemoryBase } from '../plumbing/base.ts';
import type { StoreCalls } from '../plumbing/unsafe-port-of.ts';
import { licenseCalls } from './license-store.ts';

/** The calls on empty stores. */
export function licenseStores(base: MemoryBase): StoreCalls<LicenseStores> {
  return { license: licenseCalls(base) };
}
