// What a Console can do is a list of capabilities. Each is opened by one function from a context and answers what it
// contributes; nobody else has to know of it. decision: D58

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Registry } from '@prometheus-io/client';
import type { AnyStateMachine } from 'xstate';
import type { Loop } from '../actors/loops/loop.ts';
import type { LoopRegistry } from '../actors/loops/loop-registry.ts';
import type { StartupStep } from '../machines/console/runtime/startup.rules.ts';
import type { Intervals } from '../machines/limits.ts';
import type { AnalyticsStores, RelationalStores } from '../storage/ports/stores.ts';
import type {
  BoundListener,
  ConsoleCertificates,
  ConsolePorts,
  PolicySigningKey,
} from './console-ports.ts';
import type { HandleExchange } from './listener/handle-exchange.ts';
import type { Routed } from './listener/let-go.ts';
import type { CursorSigner } from './operator-plane/plumbing/cursor.ts';
import type { DirectoryView, Probe } from './operator-plane/plumbing/deps.ts';
import type { GuardDeps } from './operator-plane/plumbing/guard.ts';
import type { StoreView } from './operator-plane/system/store-view.ts';
import type { HeartbeatPart } from './sensor-plane/heartbeat-part.ts';
import type { SensorPost } from './sensor-plane/sensor-plane.ts';

export type Contribution = {
  /** Operator routes below the API's prefix; asked for when every capability is open. */
  readonly operatorRoutes?: () => readonly FastifyPluginAsyncTypebox[];
  /** Operator routes beside it. */
  readonly pages?: () => readonly FastifyPluginAsyncTypebox[];
  /** Judges who calls the operator plane; one capability says so. */
  readonly guard?: GuardDeps;
  readonly sensorPosts?: readonly SensorPost[];
  /** What a heartbeat is asked and answered beside its own. */
  readonly heartbeatParts?: readonly HeartbeatPart[];
  /** Sockets of its own on an app; called for every app the listener builds. */
  readonly attachSockets?: (
    app: Routed,
    handle: { readonly sensor: HandleExchange; readonly operator: HandleExchange },
  ) => void;
  /** Periodic work; asked for at the step of background tasks. decision: D60 */
  readonly loops?: () => Promise<readonly Loop[]> | readonly Loop[];
  readonly machines?: readonly AnyStateMachine[];
  readonly directories?: readonly DirectoryView[];
  readonly probes?: readonly Probe[];
  /** What operators are told beside whatever they ask, in plain ASCII; asked at every answer. */
  readonly notices?: () => readonly string[];
  readonly measure?: (registry: Registry) => void;
  /** The intervals in force, where operators may change them. */
  readonly intervals?: Intervals;
  /** Ends what peers hold open, before the listener closes. */
  readonly drain?: () => Promise<void> | void;
  readonly close?: () => Promise<void> | void;
};
export type Opened<Service> = Contribution & { readonly service: Service };

export type Capability<Service = unknown> = {
  readonly name: string;
  /** Absent: when the routers are built. */
  readonly opensAt?: Extract<
    StartupStep,
    'relational_database' | 'license_trust_anchor' | 'analytics_and_sink'
  >;
  /** Throws why it cannot be opened; the start ends then. */
  open(context: ConsoleContext): Promise<Opened<Service>> | Opened<Service>;
};

/** What a capability is given. What a later step opens is there when that step is over. */
export type ConsoleContext = ConsolePorts & {
  /** Each is the one in force when it is read. */
  readonly intervals: Intervals;
  readonly relational: RelationalStores;
  readonly analytics: AnalyticsStores;
  readonly policySigning: PolicySigningKey;
  readonly certificates: ConsoleCertificates;
  readonly listener: BoundListener;
  readonly cursors: CursorSigner;
  readonly loops: LoopRegistry;
  /** The databases whose processes are supervised. */
  readonly supervised: StoreView;
  /** The service of a capability that stands earlier in the list. */
  use<Service>(capability: Pick<Capability<Service>, 'name' | 'open'>): Service;
  /** What every capability contributes that is open by now. */
  contributions(): readonly Contribution[];
  /** Null when ready; otherwise why not. */
  notReadyBecause(): string | null;
  /** Who judges the callers of the operator plane. */
  guard(): GuardDeps;
};
