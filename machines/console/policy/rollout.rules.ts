// A rollout: a version that reaches the sensors of one target in stages, each stage only after the one before has lived
// with it. Plan, gates and what counts are data; the machine decides over them. decision: D90, D91
import {
  ROLLOUT_LOST_MAX,
  ROLLOUT_NAMED_MAX,
  ROLLOUT_STAGES_MAX,
  ROLLOUT_STALE_ONE_IN,
  ROLLOUT_WAIT_MAX_MS,
} from './limits.ts';

export type RolloutStage = {
  /** Reached by name, whatever their rank. */
  readonly sensorIds: readonly string[];
  /** Of the sensors of the target, those of this stage and of all before; the last stage has 100. */
  readonly percent: number;
  /** How long the stage is watched after its sensors answered. */
  readonly waitMs: number;
  /** Whether the next stage waits for a person's word, too. */
  readonly needsWord: boolean;
};
/** How much of each may be counted among the sensors reached; null = not watched. More than that fails the gate. */
export const ROLLOUT_GATES = [
  'rejected',
  'failed',
  'silent',
  'stale',
  'engine_restarts',
  'storms',
  'lost',
] as const;
export type RolloutGate = (typeof ROLLOUT_GATES)[number];
export type RolloutLimits = Readonly<Record<RolloutGate, number | null>>;
export type RolloutPlan = {
  readonly stages: readonly RolloutStage[];
  readonly limits: RolloutLimits;
  /** A sensor that is heard and does not answer for longer is silent. */
  readonly answerWithinMs: number;
  /** A sensor with more events a minute is in a storm. */
  readonly stormPerMinute: number;
  readonly onFailure: 'return' | 'halt';
};

/** What was counted among the sensors that a rollout has reached. */
export type RolloutTally = Readonly<Record<RolloutGate, number>> & {
  /** Sensors of the target that can be reached at all. */
  readonly touched: number;
  readonly reached: number;
  readonly inForce: number;
  /** Heard, and not answered yet. */
  readonly unanswered: number;
  /** Not heard since they were reached; they join when they return. */
  readonly offline: number;
  /** Still with the version of the rollout; counts while it returns. */
  readonly holding: number;
};
export const NOTHING_COUNTED: RolloutTally = {
  ...{ rejected: 0, failed: 0, silent: 0, stale: 0, engine_restarts: 0, storms: 0, lost: 0 },
  ...{ touched: 0, reached: 0, inForce: 0, unanswered: 0, offline: 0, holding: 0 },
};
export type FailedGate = {
  readonly gate: RolloutGate;
  readonly counted: number;
  readonly limit: number;
};

/** The first gate that fails; null while all hold. */
export function failingGate(limits: RolloutLimits, tally: RolloutTally): FailedGate | null {
  for (const gate of ROLLOUT_GATES) {
    const limit = limits[gate];
    if (limit !== null && tally[gate] > limit) return { gate, counted: tally[gate], limit };
  }
  return null;
}

/** The limits that hold where nobody chose others: no trouble at all, but for what large fleets always have. */
export function usualLimits(sensors: number): RolloutLimits {
  return {
    ...{ rejected: 0, failed: 0, silent: 0, engine_restarts: 0, storms: 0 },
    stale: Math.floor(sensors / ROLLOUT_STALE_ONE_IN),
    lost: ROLLOUT_LOST_MAX,
  };
}

/** Whether everybody who can answer did, and somebody did: silence alone proves nothing. */
export function isSettled(tally: RolloutTally): boolean {
  return tally.unanswered === 0 && tally.inForce > 0;
}

export type PlanMistake = { readonly pointer: string; readonly detail: string };

/** What contradicts itself in a plan; empty = nothing. */
export function mistakesOfPlan({ stages }: Pick<RolloutPlan, 'stages'>): readonly PlanMistake[] {
  const named = stages.flatMap(({ sensorIds }) => sensorIds);
  const rules: readonly (readonly [pointer: string, holds: boolean, detail: string])[] = [
    [
      '/stages',
      stages.length >= 1 && stages.length <= ROLLOUT_STAGES_MAX,
      `must be 1 to ${ROLLOUT_STAGES_MAX}`,
    ],
    ['/stages', stages.at(-1)?.percent === 100, 'must end with 100 percent'],
    ['/stages', isGrowing(stages), 'must each reach more than the one before'],
    ['/stages', named.length <= ROLLOUT_NAMED_MAX, `may name ${ROLLOUT_NAMED_MAX} sensors at most`],
    ['/stages', new Set(named).size === named.length, 'name a sensor twice'],
    ...stages.map(
      ({ waitMs }, at) =>
        [
          `/stages/${at}/wait_seconds`,
          waitMs >= 0 && waitMs <= ROLLOUT_WAIT_MAX_MS,
          'is too long',
        ] as const,
    ),
  ];
  return rules.flatMap(([pointer, holds, detail]) => (holds ? [] : [{ pointer, detail }]));
}

function isGrowing(stages: readonly RolloutStage[]): boolean {
  return stages.every(({ percent, sensorIds }, at) => {
    const before = stages[at - 1]?.percent ?? 0;
    return percent > before || (percent === before && sensorIds.length > 0 && percent < 100);
  });
}

/** Where a sensor stands in the order of a rollout, from 0 to 2^32 - 1: the same on every Console, another in each rollout. */
export function rankOf(rolloutId: string, sensorId: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${rolloutId}/${sensorId}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const EVERYBODY = 2 ** 32;

/** The rank below which sensors are reached, so that `percent` of them are, and at least one. */
export function cutOf(rolloutId: string, sensorIds: readonly string[], percent: number): number {
  if (percent >= 100) return EVERYBODY;
  if (percent <= 0 || sensorIds.length === 0) return 0;
  const ranks = sensorIds.map((id) => rankOf(rolloutId, id)).sort((a, b) => a - b);
  const wanted = Math.ceil((sensorIds.length * percent) / 100);
  return (ranks[wanted - 1] ?? EVERYBODY) + 1;
}

export const ROLLOUT_STATES = [
  'running.reaching',
  'running.watching',
  'running.asking',
  'paused',
  'halted',
  'returning',
  'done',
  'returned',
  'stopped',
] as const;
export type RolloutState = (typeof ROLLOUT_STATES)[number];
const ENDED: readonly RolloutState[] = ['done', 'returned', 'stopped'];
const WHOLE: readonly RolloutState[] = ['returning', 'done', 'returned'];

/** Whether it still moves. */
export function isOpen(state: RolloutState): boolean {
  return !ENDED.includes(state);
}

/** Whether its sensors have another version than their target. */
export function isSplit(state: RolloutState): boolean {
  return !WHOLE.includes(state);
}

type Reach = {
  readonly rolloutId: string;
  readonly context: {
    readonly plan: Pick<RolloutPlan, 'stages'>;
    readonly begun: readonly { readonly atMs: number; readonly cut: number }[];
  };
};

/** Since when a sensor is reached; null when it is not. */
export function reachedAtMs({ rolloutId, context }: Reach, sensorId: string): number | null {
  const rank = rankOf(rolloutId, sensorId);
  const { stages } = context.plan;
  const found = context.begun.find(
    ({ cut }, at) => rank < cut || stages[at]?.sensorIds.includes(sensorId) === true,
  );
  return found?.atMs ?? null;
}

/** Whether a rollout has reached a sensor of its target. */
export function hasReached(rollout: Reach, sensorId: string): boolean {
  return reachedAtMs(rollout, sensorId) !== null;
}
