// How many nodes the license allows for new identities. Enrolled sensors are never asked.
import type { Logger } from '../runtime/logger.ts';

export type LicenseGate = {
  /** Null = no limit now. */
  nodesAllowed(nowMs: number): number | null;
};

/** The gate of a Console without a license: no limit, said once. */
export function createOpenLicenseGate(logger: Logger): LicenseGate {
  let isSaid = false;
  return {
    nodesAllowed() {
      if (!isSaid) logger.warn('no license is configured: enrollment has no limit');
      isSaid = true;
      return null;
    },
  };
}
