// What the operator plane is put together from, and the words its resources share.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FleetLiveView } from '../../../actors/fleet/fleet-live-view.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import type { RunningTimer } from '../../../actors/runtime/running-timers.ts';
import type { AuditLog } from '../../../storage/ports/audit/audit-log.ts';
import type { Metrics } from '../system/metrics.ts';
import type { GuardDeps } from './guard.ts';

/** The live facts of the fleet; the live view satisfies it. */
export type FleetView = Pick<FleetLiveView, 'get' | 'counts' | 'subscribe'>;

/** One actor as a directory shows it, whatever its machine. */
export type ActorView = {
  readonly id: string;
  readonly snapshot: unknown;
  readonly sinceMs: number;
  readonly lastEvent: string;
  readonly restarts: number;
  readonly timers?: readonly RunningTimer[];
  /** What is worth a look beside its state, as it goes out. */
  readonly about?: Readonly<Record<string, unknown>>;
};

/** A directory of actors, read only; every `Directory` satisfies it. */
export type DirectoryView = {
  readonly kind: string;
  ids(): Iterable<string>;
  ask(id: string): ActorView | 'absent';
  size(): number;
};

export type Probe = {
  readonly name: string;
  /** Shown, but the Console is ready without it. */
  readonly isOptional?: boolean;
  ping(): Promise<boolean>;
};

export type VersionFacts = { readonly version: string; readonly platform: string };

/** What puts the operator plane together; its resources bring what they need themselves. */
export type OperatorPlaneDeps = {
  readonly logger: Logger;
  readonly now: () => number;
  readonly version: VersionFacts;
  readonly guard: GuardDeps;
  /** Takes refusals. */
  readonly audit: Pick<AuditLog, 'append'>;
  readonly metrics: Metrics;
  /** What operators are told beside every answer. */
  readonly notices: () => readonly string[];
  /** Below the API's prefix. */
  readonly routes: readonly FastifyPluginAsyncTypebox[];
  /** Beside it. */
  readonly pages: readonly FastifyPluginAsyncTypebox[];
};
