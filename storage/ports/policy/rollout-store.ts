// What rollouts ask of the database beside their rows in the book: how their sensors stand, and which transitions led there.
// Transitions are written with the commit that makes them, and never change. Every method rejects with StoreUnavailable.
// decision: D90
import type { RolloutContext } from '../../../machines/console/policy/rollout.machine.ts';
import type { RolloutState, RolloutTally } from '../../../machines/console/policy/rollout.rules.ts';
import type { SensorSight } from '../../../machines/console/policy/rollout-tally.rules.ts';

export type RolloutMove = {
  readonly rolloutId: string;
  /** From 1, without gaps. */
  readonly sequence: number;
  readonly atMs: number;
  readonly event: string;
  /** Null for the first. */
  readonly from: RolloutState | null;
  readonly to: RolloutState;
  /** `console` for what no person did. */
  readonly actor: string;
  /** What was counted; null where nothing was. */
  readonly tally: RolloutTally | null;
  readonly context: RolloutContext;
};

export type RolloutStore = {
  /** In no order; those that are revoked or unknown are left out. */
  look(sensorIds: readonly string[]): Promise<readonly SensorSight[]>;
  /** Newest first, below `before`. */
  moves(query: {
    readonly rolloutId: string;
    readonly limit: number;
    readonly before: number | null;
  }): Promise<readonly RolloutMove[]>;
};
