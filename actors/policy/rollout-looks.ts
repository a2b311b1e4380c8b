// Looks at the sensors of rollouts: their reports from the database, because each may be heard by another Console; their
// counters at the beginning from the rollout's own document; what takes two looks from the look before. decision: D91
import type { RolloutRow } from '../../machines/console/policy/book.rules.ts';
import {
  type Baselines,
  lookAt,
  type SensorSight,
  type Watched,
} from '../../machines/console/policy/rollout-tally.rules.ts';
import { ROLLOUT_LOOK_SENSORS_MAX } from '../../machines/limits.ts';
import type { RolloutStore } from '../../storage/ports/policy/rollout-store.ts';
import type { BookService } from './policy-book.ts';
import type { WantedPolicies } from './wanted-policies.ts';

export type RolloutLook = ReturnType<typeof lookAt> & {
  readonly sights: readonly SensorSight[];
  readonly baselines: Baselines;
};
export type RolloutLooks = {
  /** Rejects with StoreUnavailable. */
  sights(sensorIds: readonly string[]): Promise<readonly SensorSight[]>;
  /** Of the sensors it touches now. Rejects with StoreUnavailable. */
  look(row: RolloutRow): Promise<RolloutLook>;
  /** Forgets what was seen of others. */
  keepOnly(rolloutIds: readonly string[]): void;
};
type Memory = {
  readonly stage: number;
  readonly baselines: Baselines;
  watched: ReadonlyMap<string, Watched>;
};

/** Makes the looks of one Console. */
export function createRolloutLooks(deps: {
  readonly book: Pick<BookService, 'store'>;
  readonly store: Pick<RolloutStore, 'look'>;
  readonly wanted: Pick<WantedPolicies, 'touchedBy'>;
  readonly now: () => number;
  readonly stalenessMs: () => number;
}): RolloutLooks {
  const memories = new Map<string, Memory>();

  async function memoryOf({ rolloutId, context }: RolloutRow): Promise<Memory> {
    const known = memories.get(rolloutId);
    if (known?.stage === context.stage) return known;
    // The counters are those of the stage that the row has: a newer one has noted more.
    const body = (await deps.book.store.body('rollout', rolloutId)) as {
      readonly baselines: Baselines;
    } | null;
    const watched = known?.watched ?? new Map<string, Watched>();
    const memory = { stage: context.stage, baselines: body?.baselines ?? {}, watched };
    memories.set(rolloutId, memory);
    return memory;
  }

  async function sights(sensorIds: readonly string[]): Promise<readonly SensorSight[]> {
    const found: SensorSight[] = [];
    for (let at = 0; at < sensorIds.length; at += ROLLOUT_LOOK_SENSORS_MAX) {
      found.push(...(await deps.store.look(sensorIds.slice(at, at + ROLLOUT_LOOK_SENSORS_MAX))));
    }
    return found;
  }

  return {
    sights,
    async look(row) {
      const memory = await memoryOf(row);
      const { baselines, watched } = memory;
      const touched = deps.wanted.touchedBy(row.next).map(({ sensorId }) => sensorId);
      const seen = await sights(touched);
      const at = { nowMs: deps.now(), stalenessMs: deps.stalenessMs(), baselines, watched };
      const look = lookAt(row, seen, at);
      memory.watched = look.watched;
      return { ...look, sights: seen, baselines };
    },
    keepOnly(rolloutIds) {
      for (const id of memories.keys()) if (!rolloutIds.includes(id)) memories.delete(id);
    },
  };
}
