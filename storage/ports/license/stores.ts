// What is kept of the license.
import type { LicenseStore } from './license-store.ts';

export type LicenseStores = {
  readonly license: LicenseStore;
};
