// What a Console can do, one line each, in the order in which they are opened; they are closed in reverse. decision: D58

import { access } from './capabilities/access/access.ts';
import { rateLimits } from './capabilities/access/rate-limits.ts';
import { audit } from './capabilities/audit/audit.ts';
import { containment } from './capabilities/containment/containment.ts';
import { delivery } from './capabilities/delivery/delivery.ts';
import { detection } from './capabilities/detection/detection.ts';
import { digest } from './capabilities/digest/digest.ts';
import { exports } from './capabilities/exports/exports.ts';
import { fleet } from './capabilities/fleet/fleet.ts';
import { correlation } from './capabilities/hunting/correlation.ts';
import { exercises } from './capabilities/hunting/exercises.ts';
import { investigations } from './capabilities/hunting/investigations.ts';
import { savedSearches } from './capabilities/hunting/saved-searches.ts';
import { license } from './capabilities/license/license.ts';
import { licenseAlerts } from './capabilities/license/license-alerts.ts';
import { packs } from './capabilities/policy/packs.ts';
import { policy } from './capabilities/policy/policy.ts';
import { rehearsals } from './capabilities/policy/rehearsals.ts';
import { rollouts } from './capabilities/policy/rollouts.ts';
import { settings } from './capabilities/settings/settings.ts';
import { siem } from './capabilities/siem/siem.ts';
import { system } from './capabilities/system/system.ts';
import { telemetry } from './capabilities/telemetry/telemetry.ts';
import { installation } from './capabilities/trust/installation.ts';
import { trust } from './capabilities/trust/trust.ts';
import type { Capability } from './capability.ts';

export const CAPABILITIES: readonly Capability[] = [
  settings,
  license,
  packs,
  rateLimits,
  fleet,
  access,
  installation,
  trust,
  telemetry,
  detection,
  licenseAlerts,
  delivery,
  exports,
  digest,
  siem,
  containment,
  policy,
  rehearsals,
  rollouts,
  savedSearches,
  investigations,
  exercises,
  correlation,
  audit,
  system,
];
