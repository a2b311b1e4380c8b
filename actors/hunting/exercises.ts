// What people do with exercises: plan, start, end, give up, remove. What is seen of one is counted by its loop.
// decision: D144, D146
import type { AuditAction } from '../../machines/audit-actions.ts';
import type { ExerciseEvent } from '../../machines/console/hunting/exercise.machine.ts';
import {
  type Exercise,
  type ExpectedStep,
  exerciseAfter,
  newExercise,
} from '../../machines/console/hunting/exercise.ts';
import { exerciseStep } from '../../machines/detection/exercise-steps.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { EXERCISE_PAIRS_MAX, EXERCISES_MAX } from '../../machines/limits.ts';
import type { SensorRegistry } from '../../storage/ports/fleet/sensor-registry.ts';
import type { DocumentStore, HuntingDocument } from '../../storage/ports/hunting/document-store.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { Chance } from '../trust/chance.ts';

export type ExerciseDocument = HuntingDocument<Exercise>;
type Done = { readonly ok: true; readonly exercise: ExerciseDocument } | Refusal;
export type ExercisePlan = {
  readonly name: string;
  readonly sensorIds: readonly string[];
  readonly windowMs: number;
  readonly steps: readonly Omit<ExpectedStep, 'technique'>[];
};

export type Exercises = {
  list(query: {
    readonly limit: number;
    readonly before: string | null;
  }): Promise<readonly ExerciseDocument[]>;
  get(id: string): Promise<ExerciseDocument | null>;
  create(input: AuditContext & { readonly plan: ExercisePlan }): Promise<Done>;
  move(input: AuditContext & { readonly id: string; readonly event: ExerciseEvent }): Promise<Done>;
  remove(input: AuditContext & { readonly id: string }): Promise<boolean>;
};

/** Makes the service over its store. */
export function createExercises(deps: {
  readonly store: DocumentStore<Exercise>;
  readonly sensors: Pick<SensorRegistry, 'getSensor'>;
  readonly chance: Pick<Chance, 'newId'>;
}): Exercises {
  const { store, sensors, chance } = deps;
  return {
    list: (query) => store.list(query),
    get: (id) => store.get(id),
    async create({ plan, ...context }) {
      if (plan.steps.length * plan.sensorIds.length > EXERCISE_PAIRS_MAX) {
        return refusedAt('/steps', `steps times sensors is at most ${EXERCISE_PAIRS_MAX}`);
      }
      const steps: ExpectedStep[] = [];
      for (const [at, wanted] of plan.steps.entries()) {
        const known = exerciseStep(wanted.step);
        if (known === undefined) return refusedAt(`/steps/${at}/step`, 'is no step of the library');
        steps.push({ ...wanted, technique: known.technique });
      }
      for (const [at, sensorId] of plan.sensorIds.entries()) {
        const isThere = (await sensors.getSensor(sensorId)) !== null;
        if (!isThere) return refusedAt(`/sensor_ids/${at}`, 'is no sensor');
      }
      const id = chance.newId();
      const { name, windowMs } = plan;
      const sensorIds = [...new Set(plan.sensorIds)];
      const standing = newExercise(windowMs);
      const body = { name, sensorIds, steps, createdBy: context.actor, standing, results: [] };
      const added = await store.add({
        ...{ id, body, max: EXERCISES_MAX, nowMs: context.nowMs },
        audit: {
          ...entryOf(context, 'exercise.create', id),
          detail: { name, sensors: sensorIds, steps: steps.map(({ step }) => step) },
        },
      });
      if (typeof added === 'string') return refuse('documents_full', 'That many are kept.');
      return { ok: true, exercise: added };
    },
    async move({ id, event, ...context }) {
      const before = await store.get(id);
      if (before === null) return NO_EXERCISE;
      const standing = exerciseAfter(before.body.standing, event);
      if (standing === null) return refuse('state_refuses', `It is ${before.body.standing.state}.`);
      const { revision } = before;
      const { nowMs } = context;
      const detail = { event: event.type, state: standing.state };
      const audit = { ...entryOf(context, 'exercise.change', id), detail };
      const body = { ...before.body, standing };
      const changed = await store.change({ id, revision, body, nowMs, audit });
      if (changed === 'not_found') return NO_EXERCISE;
      if (changed === 'conflict') return CONFLICT;
      return { ok: true, exercise: changed };
    },
    remove: ({ id, ...context }) =>
      store.remove({
        ...{ id, nowMs: context.nowMs },
        audit: { ...entryOf(context, 'exercise.remove', id), detail: {} },
      }),
  };
}

export const NO_EXERCISE = refuse('not_found', 'There is no such exercise.');
const CONFLICT = refuse('document_conflict', 'The exercise was changed meanwhile.');

function refusedAt(pointer: string, detail: string): Refusal {
  return refuse('schema_violation', 'The exercise cannot be planned like this.', {
    errors: [{ pointer, detail }],
  });
}

function entryOf({ actor, from, nowMs: atMs }: AuditContext, action: AuditAction, target: string) {
  return { atMs, actor, from, action, target, result: 'ok' };
}
