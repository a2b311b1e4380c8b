// What the fleet's resources are given.
import type { UserService } from '../../../actors/access/users.ts';
import type { NodeMachines } from '../../../actors/fleet/node-machines.ts';
import type { TransitionRecorder } from '../../../actors/fleet/transition-recorder.ts';
import type { InspectionFeed } from '../../../actors/runtime/inspection-feed.ts';
import type { Chance } from '../../../actors/trust/chance.ts';
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { TeamStore } from '../../../storage/ports/fleet/teams.ts';
import type { EventStore } from '../../../storage/ports/telemetry/event-store.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import type { DirectoryView, FleetView } from '../plumbing/deps.ts';

export type FleetRouteDeps = {
  readonly now: () => number;
  readonly cursors: CursorSigner;
  readonly chance: Pick<Chance, 'newId'>;
  readonly registry: Pick<SensorRegistry, 'listBriefly' | 'sensorsOf' | 'getSensor'>;
  readonly teams: TeamStore;
  /** Why a credential may not touch these accounts; null when it may. */
  readonly judgeReach: UserService['judge'];
  readonly events: Pick<EventStore, 'transitionsOf'>;
  /** Rows of a sensor that the event store does not have yet. */
  readonly recorder: Pick<TransitionRecorder, 'queuedOf'>;
  readonly nodeMachines: Pick<NodeMachines, 'of'>;
  readonly fleet: FleetView;
  readonly feed: Pick<InspectionFeed, 'recentOf'>;
  readonly sensorActors: DirectoryView;
};
