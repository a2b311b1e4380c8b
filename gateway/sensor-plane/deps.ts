// What the sensor plane is given. Time, stores and actors are ports; nothing here builds a client.

import type { Logger } from '../../actors/runtime/logger.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { Ingest } from '../../actors/telemetry/ingest.ts';
import type { Inventory } from '../../actors/telemetry/inventory.ts';
import type { Telemetry } from '../../actors/telemetry/telemetry.ts';
import type { Enrollment } from '../../actors/trust/enrollment.ts';
import type { IdentityCache } from '../../actors/trust/identity-cache.ts';
import type { Authenticate, Renewal } from '../../actors/trust/renewal.ts';
import type { SensorActors } from '../../actors/trust/sensor-actors.ts';
import type { Intervals } from '../../machines/limits.ts';
import type { FactWriter } from '../../storage/ports/fleet/sensor-registry.ts';
import type { AuditLog } from '../../storage/ports/relational.ts';
import type { RateBudget } from '../access/rate-budget.ts';
import type { PeerFingerprints } from '../listener/peer-fingerprints.ts';

export type SensorPlaneDeps = {
  readonly logger: Logger;
  /** Milliseconds of the wall clock. */
  readonly now: () => number;
  readonly clock: Pick<WheelClock, 'setTimeout' | 'clearTimeout'>;
  readonly intervals: Intervals;
  readonly peers: PeerFingerprints;
  /** Runs after the parser is done with the bytes it holds; absent: in the event loop's next turn. */
  readonly afterParsing?: (run: () => void) => void;
  readonly cache: Pick<IdentityCache, 'judge' | 'subscribe'>;
  readonly authenticate: Authenticate;
  readonly enroll: Enrollment;
  readonly renew: Renewal;
  readonly sensors: SensorActors;
  readonly facts: Pick<FactWriter, 'write'>;
  readonly ingest: Ingest;
  readonly inventory: Inventory;
  readonly telemetry: Pick<Telemetry, 'observe' | 'storedReport'>;
  readonly audit: AuditLog;
  /** The budget of addresses without a certificate. decision: D15 */
  readonly budget: RateBudget;
};
