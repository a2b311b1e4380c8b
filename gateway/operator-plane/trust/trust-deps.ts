// What the resources of trust are given.
import type { RevokeSensor } from '../../../actors/trust/revocation.ts';
import type { TokenService } from '../../../actors/trust/tokens.ts';
import type { SensorRegistry } from '../../../storage/ports/fleet/sensor-registry.ts';
import type { TeamStore } from '../../../storage/ports/fleet/teams.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import type { FleetView } from '../plumbing/deps.ts';

export type TrustRouteDeps = {
  readonly now: () => number;
  readonly cursors: CursorSigner;
  /** What enrols a node when it is pasted there. */
  readonly enrollLine: () => string;
  readonly registry: Pick<SensorRegistry, 'listTokens' | 'revokeToken'>;
  readonly tokens: Pick<TokenService, 'create' | 'createForSensor'>;
  readonly revokeSensor: RevokeSensor;
  readonly teams: Pick<TeamStore, 'labelsOf' | 'owns'>;
  readonly fleet: FleetView;
};
