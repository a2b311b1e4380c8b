// Exercises as they are asked for and told.
import Type from 'typebox';
import type { ExerciseDocument } from '../../../actors/hunting/exercises.ts';
import { type ExpectedDetection, scoreOf } from '../../../machines/console/hunting/exercise.ts';
import {
  EXERCISE_NAME_MAX_CHARS,
  EXERCISE_SENSORS_MAX,
  EXERCISE_STEPS_MAX,
  EXERCISE_WINDOW_MAX_MS,
  EXERCISE_WINDOW_MIN_MS,
} from '../../../machines/limits.ts';
import { NAME_MAX_CHARS } from '../../../machines/wire/event.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import { Nullable, Strict, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';

const Named = Type.String({ minLength: 1, maxLength: NAME_MAX_CHARS });
export const NewExercise = Strict({
  name: Type.String({ minLength: 1, maxLength: EXERCISE_NAME_MAX_CHARS }),
  window_secs: Type.Integer({
    minimum: EXERCISE_WINDOW_MIN_MS / 1_000,
    maximum: EXERCISE_WINDOW_MAX_MS / 1_000,
  }),
  sensor_ids: Type.Array(Uuid, { minItems: 1, maxItems: EXERCISE_SENSORS_MAX }),
  steps: Type.Array(
    Strict({
      step: Named,
      rule_id: Type.Optional(
        Type.String({ ...Named, description: 'the rule that should tell of it' }),
      ),
      policy: Type.Optional(Type.String({ ...Named, description: 'the policy that should match' })),
    }),
    { minItems: 1, maxItems: EXERCISE_STEPS_MAX },
  ),
});
export type NewExercise = Type.Static<typeof NewExercise>;

const Result = Type.Object({
  step: Type.String(),
  sensor_id: Uuid,
  technique: Nullable(Type.String()),
  expected: Type.String({ description: 'event, rule or policy' }),
  expected_of: Nullable(Type.String({ description: 'the rule or the policy' })),
  is_seen: Type.Boolean(),
  detected_after_ms: Nullable(Type.Integer()),
  missed_because: Nullable(
    Type.String({ description: 'not_collected, not_delivered or not_matched' }),
  ),
  events: Type.Integer(),
});
export const ExerciseView = Type.Object({
  exercise_id: Uuid,
  name: Type.String(),
  state: Type.String({ description: 'planned, running, settling, scored or abandoned' }),
  sensor_ids: Type.Array(Uuid),
  window_secs: Type.Integer(),
  started_at: Nullable(Time),
  ends_at: Nullable(Time),
  scored_at: Nullable(Time),
  expected: Type.Integer(),
  seen: Type.Integer(),
  median_ms: Nullable(Type.Integer()),
  slowest_ms: Nullable(Type.Integer()),
  results: Type.Array(Result),
  steps: Type.Array(
    Type.Object({
      step: Type.String(),
      technique: Nullable(Type.String()),
      command: Type.String(),
    }),
  ),
  created_by: Type.String(),
  created_at: Time,
});
export type ExerciseView = Type.Static<typeof ExerciseView>;
export const StepView = Type.Object({
  step: Type.String(),
  title: Type.String(),
  technique: Type.String(),
  tactic: Type.String(),
  script: Type.String(),
});

/** What should tell of a step, as it was asked for. */
export function detectionIn(asked: NewExercise['steps'][number]): ExpectedDetection {
  if (asked.rule_id !== undefined) return { by: 'rule', ruleId: asked.rule_id };
  if (asked.policy !== undefined) return { by: 'policy', name: asked.policy };
  return { by: 'event' };
}

export function exerciseView({ id, body, createdAtMs }: ExerciseDocument): ExerciseView {
  const { name, sensorIds, steps, standing, results, createdBy } = body;
  const { expected, seen, medianMs, slowestMs } = scoreOf(results);
  return {
    ...{ exercise_id: id, name, state: standing.state, sensor_ids: [...sensorIds] },
    window_secs: standing.windowMs / 1_000,
    started_at: timeTextOrNull(standing.startedAtMs),
    ends_at: timeTextOrNull(standing.endsAtMs),
    scored_at: timeTextOrNull(standing.scoredAtMs),
    ...{ expected: Math.max(expected, steps.length * sensorIds.length), seen },
    ...{ median_ms: medianMs, slowest_ms: slowestMs },
    results: results.map((one) => ({
      ...{ step: one.step, sensor_id: one.sensorId, technique: one.technique },
      ...{ expected: one.detection.by, expected_of: nameOf(one.detection), is_seen: one.isSeen },
      ...{ detected_after_ms: one.detectedAfterMs, missed_because: one.miss, events: one.events },
    })),
    steps: steps.map(({ step, technique }) => ({
      ...{ step, technique, command: `service-sensor exercise run ${step}` },
    })),
    ...{ created_by: createdBy, created_at: timeText(createdAtMs) },
  };
}

function nameOf(detection: ExpectedDetection): string | null {
  if (detection.by === 'rule') return detection.ruleId;
  return detection.by === 'policy' ? detection.name : null;
}
