// Rollouts as they are asked for and shown. decision: D90
import Type from 'typebox';
import {
  type AssignmentRow,
  type RolloutRow,
  TARGET_KINDS,
} from '../../../machines/console/policy/book.rules.ts';
import {
  ROLLOUT_GATES,
  ROLLOUT_STATES,
  type RolloutLimits,
  type RolloutPlan,
  type RolloutTally,
} from '../../../machines/console/policy/rollout.rules.ts';
import {
  ROLLOUT_ANSWER_WITHIN_MS,
  ROLLOUT_NAMED_MAX,
  ROLLOUT_STAGES_MAX,
  ROLLOUT_STORM_PER_MINUTE,
  ROLLOUT_WAIT_MAX_MS,
} from '../../../machines/limits.ts';
import { SECOND_MS } from '../../../machines/units.ts';
import { PackVersion, PolicyMode } from '../../../machines/wire/policy.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { RolloutMove } from '../../../storage/ports/policy/rollout-store.ts';
import { Nullable, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';
import { AssignmentBody } from './assignments.ts';

const Seconds = Type.Integer({ minimum: 0, maximum: ROLLOUT_WAIT_MAX_MS / SECOND_MS });
const Percent = Type.Integer({ minimum: 0, maximum: 100 });
const Limit = Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000 }));
const eachGate = <S extends Type.TSchema>(schema: S) =>
  Object.fromEntries(ROLLOUT_GATES.map((gate) => [gate, schema])) as Record<
    (typeof ROLLOUT_GATES)[number],
    S
  >;
const Limits = Type.Object(eachGate(Limit));
const Stage = Type.Object({
  percent: Percent,
  sensor_ids: Type.Array(Uuid),
  wait_seconds: Type.Number(),
  needs_word: Type.Boolean(),
  begun_at: Nullable(Time),
});
const Counts = Type.Object({
  ...eachGate(Type.Integer()),
  ...{ touched: Type.Integer(), reached: Type.Integer(), in_force: Type.Integer() },
  ...{ unanswered: Type.Integer(), offline: Type.Integer(), holding: Type.Integer() },
});
const Failed = Nullable(
  Type.Object({
    ...{ gate: Type.Enum([...ROLLOUT_GATES]), counted: Type.Integer(), limit: Type.Integer() },
  }),
);
const State = Type.Enum([...ROLLOUT_STATES]);

export const StartBody = Strict({
  ...AssignmentBody.properties,
  stages: Type.Array(
    Strict({
      percent: Type.Optional(
        Type.Integer({
          ...{ minimum: 0, maximum: 100 },
          description: 'with all stages before; the last one has 100',
        }),
      ),
      sensor_ids: Type.Optional(Type.Array(Uuid, { maxItems: ROLLOUT_NAMED_MAX })),
      wait_seconds: Type.Optional(Seconds),
      needs_word: Type.Optional(
        Type.Boolean({ description: 'the next stage waits until somebody resumes' }),
      ),
    }),
    { minItems: 1, maxItems: ROLLOUT_STAGES_MAX },
  ),
  gates: Type.Optional(
    Type.Object(
      Object.fromEntries(ROLLOUT_GATES.map((gate) => [gate, Type.Optional(Limit)])) as Record<
        (typeof ROLLOUT_GATES)[number],
        Type.TOptional<typeof Limit>
      >,
      {
        additionalProperties: false,
        description: 'how many of each are borne; null: not watched; absent: the usual number',
      },
    ),
  ),
  answer_within_seconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 86_400 })),
  storm_events_per_minute: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  on_failure: Type.Optional(Type.Enum(['return', 'halt'])),
});
export const Rollout = Type.Object({
  rollout_id: Uuid,
  target: Type.Object({ kind: Type.Enum([...TARGET_KINDS]), id: Type.String() }),
  pack_id: Uuid,
  pack_name: Type.String(),
  version: PackVersion,
  mode: PolicyMode,
  before: Nullable(
    Type.Object(
      { pack_id: Uuid, version: PackVersion, mode: PolicyMode },
      {
        description: 'what the target has until the rollout is done',
      },
    ),
  ),
  state: State,
  stage: Type.Integer({ description: 'of stages, from 0' }),
  stages: Type.Array(Stage),
  gates: Limits,
  answer_within_seconds: Type.Number(),
  storm_events_per_minute: Type.Integer(),
  on_failure: Type.Enum(['return', 'halt']),
  may_return: Type.Boolean({ description: 'whether the signed packs allow the way back' }),
  failed: Failed,
  left_behind: Type.Integer(),
  settled_at: Nullable(Time),
  started_at: Time,
  started_by: Type.String(),
  moved_at: Time,
});
export const RolloutDetail = Type.Object({ ...Rollout.properties, counted: Counts });
export const RolloutTransition = Type.Object({
  sequence: Type.Integer(),
  at: Time,
  event: Type.String(),
  from: Nullable(State),
  to: State,
  stage: Type.Integer(),
  actor: Type.String(),
  failed: Failed,
  counted: Nullable(Counts),
});
export type StartBody = Type.Static<typeof StartBody>;
export type RolloutView = Type.Static<typeof Rollout>;
export type RolloutDetail = Type.Static<typeof RolloutDetail>;
export type RolloutTransitionView = Type.Static<typeof RolloutTransition>;

/** The plan that somebody asked for. */
export function planOf(
  body: StartBody,
): Omit<RolloutPlan, 'limits'> & { readonly limits: Partial<RolloutLimits> } {
  const last = body.stages.length - 1;
  let before = 0;
  const stages = body.stages.map(
    ({ percent, sensor_ids = [], wait_seconds = 0, needs_word }, at) => {
      before = percent ?? (at === last ? 100 : before);
      return {
        ...{ sensorIds: sensor_ids, percent: before, waitMs: wait_seconds * SECOND_MS },
        needsWord: needs_word === true,
      };
    },
  );
  const { answer_within_seconds: within } = body;
  return {
    stages,
    limits: body.gates ?? {},
    answerWithinMs: within === undefined ? ROLLOUT_ANSWER_WITHIN_MS : within * SECOND_MS,
    stormPerMinute: body.storm_events_per_minute ?? ROLLOUT_STORM_PER_MINUTE,
    onFailure: body.on_failure ?? 'return',
  };
}

export function rolloutView(row: RolloutRow, packName: string): RolloutView {
  const { target, next, context } = row;
  const { plan } = context;
  return {
    ...{ rollout_id: row.rolloutId, target: { ...target }, pack_name: packName },
    ...{ ...headOf(next), before: row.before === null ? null : headOf(row.before) },
    ...{ state: row.state, stage: context.stage },
    stages: plan.stages.map((stage, at) => ({
      ...{ percent: stage.percent, sensor_ids: [...stage.sensorIds] },
      ...{ wait_seconds: stage.waitMs / SECOND_MS, needs_word: stage.needsWord },
      begun_at: timeTextOrNull(context.begun[at]?.atMs ?? null),
    })),
    gates: { ...plan.limits },
    answer_within_seconds: plan.answerWithinMs / SECOND_MS,
    storm_events_per_minute: plan.stormPerMinute,
    ...{ on_failure: plan.onFailure, may_return: context.mayReturn },
    ...{ failed: context.failed, left_behind: context.leftBehind },
    settled_at: timeTextOrNull(context.settledAtMs),
    ...{ started_at: timeText(row.startedAtMs), started_by: row.startedBy },
    moved_at: timeText(row.movedAtMs),
  };
}

function headOf({ packId, version, mode }: AssignmentRow) {
  return { pack_id: packId, version, mode };
}

export function countsView({ inForce, ...counts }: RolloutTally): Type.Static<typeof Counts> {
  return { ...counts, in_force: inForce };
}

export function moveView(move: RolloutMove): RolloutTransitionView {
  const { stage, failed } = move.context;
  return {
    ...{ sequence: move.sequence, at: timeText(move.atMs), event: move.event },
    ...{ from: move.from, to: move.to, stage, actor: move.actor, failed },
    counted: move.tally === null ? null : countsView(move.tally),
  };
}
