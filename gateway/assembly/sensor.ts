// The sensors' side joined together: enrollment, renewal, ingest, inventory, streams. The sequence ledgers and inventory
// hashes are read back before anything is served. decision: D6; invariant: I1, I9

import type { Logger } from '../../actors/runtime/logger.ts';
import type { WheelClock } from '../../actors/runtime/wheel-clock.ts';
import { createIngest, type Ingest } from '../../actors/telemetry/ingest.ts';
import { createInventory } from '../../actors/telemetry/inventory.ts';
import { createSequenceLedgers } from '../../actors/telemetry/sequence-ledger.ts';
import { startTelemetry, type Telemetry } from '../../actors/telemetry/telemetry.ts';
import type { SensorCertificates } from '../../actors/trust/certificate-port.ts';
import type { Chance } from '../../actors/trust/chance.ts';
import { createEnrollment } from '../../actors/trust/enrollment.ts';
import type { LicenseGate } from '../../actors/trust/license-gate.ts';
import { createAuthenticate, createRenewal } from '../../actors/trust/renewal.ts';
import { createRevocation, type RevokeSensor } from '../../actors/trust/revocation.ts';
import { createTokenDesk, type TokenDesk } from '../../actors/trust/tokens.ts';
import type { FactWriter, SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import type { AuditLog, InventoryStore } from '../../storage/ports/relational.ts';
import type { BaselineStore } from '../../storage/ports/telemetry/baseline-store.ts';
import type { EventSink, EventStore } from '../../storage/ports/telemetry/event-store.ts';
import type { TelemetryStore } from '../../storage/ports/telemetry/telemetry-store.ts';
import type { RateBudget } from '../access/rate-budget.ts';
import type { ConsoleConfig } from '../config/config.ts';
import type { PeerFingerprints } from '../listener/peer-fingerprints.ts';
import { createSensorPlane, type SensorPlane } from '../sensor-plane/sensor-plane.ts';
import type { Fleet } from './fleet.ts';
import type { Time } from './time.ts';

export type SensorSide = {
  readonly plane: SensorPlane;
  readonly ingest: Ingest;
  readonly telemetry: Telemetry;
  readonly tokens: TokenDesk;
  readonly revokeSensor: RevokeSensor;
};

export type SensorSideDeps = {
  readonly config: ConsoleConfig;
  readonly time: Time;
  readonly clock: WheelClock;
  readonly logger: Logger;
  readonly fleet: Fleet;
  readonly registry: SensorRegistry;
  readonly facts: FactWriter;
  readonly audit: AuditLog;
  readonly inventory: InventoryStore;
  readonly events: EventStore;
  readonly sink: EventSink;
  readonly telemetry: Pick<TelemetryStore, 'insert'>;
  readonly baselines: Pick<BaselineStore, 'put' | 'baselinesOf'>;
  readonly certificates: SensorCertificates;
  readonly policyPublicKeyPem: string;
  readonly license: LicenseGate;
  readonly addressBudget: RateBudget;
  readonly peers: PeerFingerprints;
  /** Absent: the system's. */
  readonly chance?: Chance;
  /** Runs after the parser is done with the bytes it holds; absent: in the event loop's next turn. */
  readonly afterParsing?: (run: () => void) => void;
};

/** Builds the sensor plane. Throws when what is stored cannot be read back. */
export async function assembleSensorSide(deps: SensorSideDeps): Promise<SensorSide> {
  const { config, time, clock, logger, fleet, registry, audit, certificates } = deps;
  const { intervals, platform } = config;
  const ledgers = createSequenceLedgers(deps.events);
  await ledgers.load();
  const inventory = createInventory({
    ...{ store: deps.inventory, baselines: deps.baselines, platform, logger },
  });
  await inventory.load();
  const telemetry = startTelemetry({ store: deps.telemetry, clock, intervals, logger });
  const shared = {
    registry,
    certificates,
    cache: fleet.identities,
    sensors: fleet.sensors,
    audit,
    intervals,
    now: time.now,
    logger,
    ...(deps.chance === undefined ? {} : { chance: deps.chance }),
  };
  const ingest = createIngest({ sink: deps.sink, ledgers });
  const plane = createSensorPlane({
    logger,
    now: time.now,
    clock,
    intervals,
    peers: deps.peers,
    ...(deps.afterParsing === undefined ? {} : { afterParsing: deps.afterParsing }),
    cache: fleet.identities,
    authenticate: createAuthenticate(shared),
    enroll: createEnrollment({
      ...shared,
      license: deps.license,
      platform,
      policyPublicKeyPem: deps.policyPublicKeyPem,
    }),
    renew: createRenewal(shared),
    sensors: fleet.sensors,
    facts: deps.facts,
    ingest,
    inventory,
    telemetry,
    audit,
    budget: deps.addressBudget,
  });
  return {
    ingest,
    plane,
    telemetry,
    tokens: createTokenDesk({
      registry,
      // Read for every token: an operator may change it meanwhile.
      get ttlMs() {
        return intervals.ENROLLMENT_TOKEN_TTL_MS;
      },
      now: time.now,
      ...(deps.chance === undefined ? {} : { chance: deps.chance }),
    }),
    revokeSensor: createRevocation({
      registry,
      cache: fleet.identities,
      sensors: fleet.sensors,
      now: time.now,
    }),
  };
}
