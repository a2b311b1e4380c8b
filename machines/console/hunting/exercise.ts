// An exercise and its result: of every step on every sensor, what was expected, whether and how fast it was seen, and where
// it was missed. decision: D146
import { initialTransition, transition } from 'xstate';
import {
  type ExerciseContext,
  type ExerciseEvent,
  type ExerciseState,
  exerciseMachine,
} from './exercise.machine.ts';

export type ExerciseStanding = ExerciseContext & { readonly state: ExerciseState };

/** What should tell of a step: a rule's alert, a policy's event, or any event of it. */
export type ExpectedDetection =
  | { readonly by: 'event' }
  | { readonly by: 'rule'; readonly ruleId: string }
  | { readonly by: 'policy'; readonly name: string };

export type ExpectedStep = {
  /** Of the Sensor's library. */
  readonly step: string;
  readonly technique: string | null;
  readonly detection: ExpectedDetection;
};

/** Where a detection was lost on its way. */
export const MISSES = ['not_collected', 'not_delivered', 'not_matched'] as const;
export type Miss = (typeof MISSES)[number];

export type StepResult = {
  readonly step: string;
  readonly sensorId: string;
  readonly technique: string | null;
  readonly detection: ExpectedDetection;
  readonly isSeen: boolean;
  /** From the step's first event to when the detection was in the Console. */
  readonly detectedAfterMs: number | null;
  readonly miss: Miss | null;
  /** Events of the step. */
  readonly events: number;
};

export type Exercise = {
  readonly name: string;
  readonly sensorIds: readonly string[];
  readonly steps: readonly ExpectedStep[];
  readonly createdBy: string;
  readonly standing: ExerciseStanding;
  /** As far as it is known. */
  readonly results: readonly StepResult[];
};

/** One that did not begin. */
export function newExercise(windowMs: number): ExerciseStanding {
  const [first] = initialTransition(exerciseMachine, { windowMs });
  return { ...first.context, state: first.value };
}

/** An exercise after an event; null when its state does not take it. */
export function exerciseAfter(
  standing: ExerciseStanding,
  event: ExerciseEvent,
): ExerciseStanding | null {
  const { state: value, ...context } = standing;
  const snapshot = exerciseMachine.resolveState({ value, context });
  if (!snapshot.can(event)) return null;
  const [next] = transition(exerciseMachine, snapshot, event);
  return { ...next.context, state: next.value };
}

/** What was found of one step on one sensor. */
export type StepFinding = {
  readonly events: number;
  readonly firstObservedAtMs: number | null;
  readonly firstReceivedAtMs: number | null;
  /** When the expected rule or policy told of it; null: it did not. */
  readonly detectedAtMs: number | null;
  /** Nothing that the node tells of the time is missing. */
  readonly isDelivered: boolean;
};

/** The result of a step. Why it was missed is where it was lost first. */
export function resultOfStep(
  { step, technique, detection }: ExpectedStep,
  sensorId: string,
  found: StepFinding,
): StepResult {
  const detectedAtMs = detection.by === 'event' ? found.firstReceivedAtMs : found.detectedAtMs;
  const isSeen = found.events > 0 && detectedAtMs !== null;
  const since = found.firstObservedAtMs;
  return {
    ...{ step, sensorId, technique, detection, isSeen, events: found.events },
    detectedAfterMs: isSeen && since !== null ? Math.max(0, detectedAtMs - since) : null,
    miss: isSeen ? null : missOf(found),
  };
}

function missOf({ events, isDelivered }: StepFinding): Miss {
  if (events > 0) return 'not_matched';
  return isDelivered ? 'not_collected' : 'not_delivered';
}

/** How much of what was tried was seen. */
export function scoreOf(results: readonly StepResult[]): {
  readonly expected: number;
  readonly seen: number;
  readonly medianMs: number | null;
  readonly slowestMs: number | null;
} {
  const times = results
    .flatMap(({ detectedAfterMs }) => (detectedAfterMs === null ? [] : [detectedAfterMs]))
    .sort((a, b) => a - b);
  return {
    expected: results.length,
    seen: results.filter(({ isSeen }) => isSeen).length,
    medianMs: times[Math.floor((times.length - 1) / 2)] ?? null,
    slowestMs: times.at(-1) ?? null,
  };
}
