// What the operator plane is given. Ports are narrow on purpose: each names only what these routes use.
import type { AnyStateMachine } from 'xstate';
import type { FleetPicture } from '../../../actors/fleet/fleet-picture.ts';
import type { LicenseDesk } from '../../../actors/license/license-desk.ts';
import type { InspectionFeed } from '../../../actors/runtime/inspection-feed.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { CrashLog } from '../../../actors/runtime/supervisor.ts';
import type { RevokeSensor } from '../../../actors/trust/revocation.ts';
import type { TokenDesk } from '../../../actors/trust/tokens.ts';
import type { AuditChain } from '../../../storage/ports/audit/audit-chain.ts';
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { AuditLog, InventoryStore } from '../../../storage/ports/relational.ts';
import type { BaselineStore } from '../../../storage/ports/telemetry/baseline-store.ts';
import type { EventStore } from '../../../storage/ports/telemetry/event-store.ts';
import type { TelemetryStore } from '../../../storage/ports/telemetry/telemetry-store.ts';
import type { Admitter } from '../../access/admitter.ts';
import type { AccessDeps } from '../access/access-deps.ts';
import type { Metrics } from '../system/metrics.ts';
import type { CursorSigner } from './cursor.ts';

/** The live facts of the fleet; the fleet picture satisfies it. */
export type FleetView = Pick<FleetPicture, 'get' | 'counts' | 'subscribe'>;

/** One actor as a directory shows it, whatever its machine. */
export type ActorGlimpse = {
  readonly id: string;
  readonly snapshot: unknown;
  readonly sinceMs: number;
  readonly lastEvent: string;
  readonly restarts: number;
};

/** A directory of actors, read only; every `Directory` satisfies it. */
export type DirectoryView = {
  readonly kind: string;
  ids(): Iterable<string>;
  ask(id: string): ActorGlimpse | 'absent';
  size(): number;
};

export type Probe = {
  readonly name: string;
  /** Shown, but the Console is ready without it. */
  readonly isOptional?: boolean;
  ping(): Promise<boolean>;
};

export type VersionFacts = { readonly version: string; readonly platform: string };

/** What sensors told beside events, as it is stored. */
export type TelemetryReads = Omit<TelemetryStore, 'insert'> &
  Omit<BaselineStore, 'put'> & { readonly inventory: Pick<InventoryStore, 'get'> };

export type OperatorPlaneDeps = {
  readonly logger: Logger;
  readonly now: () => number;
  readonly version: VersionFacts;
  /** Where sensors and people reach this Console. */
  readonly baseUrl: () => string;
  readonly caPem: () => string;
  /** SHA-256 of the CA certificate, as colon-separated upper-case hex. */
  readonly caFingerprint: () => string;
  readonly admitter: Admitter;
  readonly access: AccessDeps;
  readonly cursors: CursorSigner;
  readonly registry: Pick<
    SensorRegistry,
    'listSensors' | 'getSensor' | 'listTokens' | 'revokeToken'
  >;
  readonly events: Pick<EventStore, 'search' | 'transitionsOf'>;
  readonly telemetry: TelemetryReads;
  readonly audit: Pick<AuditLog, 'append' | 'search'>;
  readonly auditChain: Pick<AuditChain, 'checkpoints'>;
  readonly fleet: FleetView;
  readonly tokens: Pick<TokenDesk, 'create' | 'createForSensor'>;
  readonly revokeSensor: RevokeSensor;
  readonly license: Pick<LicenseDesk, 'view' | 'import'>;
  readonly sensorActors: DirectoryView;
  /** Every directory, the sensors' included. */
  readonly directories: readonly DirectoryView[];
  readonly feed: Pick<InspectionFeed, 'recentOf'>;
  readonly crashes: Pick<CrashLog, 'recent'>;
  readonly machines: readonly AnyStateMachine[];
  readonly probes: readonly Probe[];
  /** Null when ready; otherwise why not (starting, migrating, draining). */
  readonly notReadyBecause: () => string | null;
  readonly metrics: Metrics;
};
