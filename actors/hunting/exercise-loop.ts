// Looks at exercises that run: what was seen of each step on each sensor, how fast, and where the rest was lost. When its
// window is over and everything on its way had time to arrive, the result is written and told. decision: D60, D146
import { type Alert, OF_FLEET } from '../../machines/console/delivery/alert.ts';
import { type Finding, findingOf } from '../../machines/console/detection/finding.ts';
import {
  type Exercise,
  type ExpectedStep,
  exerciseAfter,
  resultOfStep,
  type StepFinding,
  type StepResult,
  scoreOf,
} from '../../machines/console/hunting/exercise.ts';
import { conditionOfStep } from '../../machines/detection/exercise-steps.ts';
import {
  EXERCISE_LOOK_MS,
  EXERCISE_SETTLE_MS,
  EXERCISES_MAX,
  PAGE_ITEMS_MAX,
} from '../../machines/limits.ts';
import type { AlertStore } from '../../storage/ports/detection/alert-store.ts';
import type { DocumentStore, HuntingDocument } from '../../storage/ports/hunting/document-store.ts';
import type { EventStore } from '../../storage/ports/telemetry/event-store.ts';
import type { DesignatedLoop } from '../loops/loop.ts';
import type { Chance } from '../trust/chance.ts';

export type ExerciseLoopDeps = {
  readonly store: Pick<DocumentStore<Exercise>, 'list' | 'change'>;
  readonly events: Pick<EventStore, 'search' | 'countDistinct'>;
  readonly alerts: Pick<AlertStore, 'list'>;
  /** Whether the node tells the Console what it sees, now. */
  readonly isTelling: (sensorId: string) => boolean;
  readonly raise: (findings: readonly Finding[], epoch: number) => Promise<unknown>;
  readonly chance: Pick<Chance, 'newId'>;
  readonly now: () => number;
};
type Document = HuntingDocument<Exercise>;
type Of = { readonly epoch: number; readonly signal: AbortSignal };

/** Makes the loop. */
export function createExerciseLoop(deps: ExerciseLoopDeps): DesignatedLoop {
  return {
    name: 'exercises',
    runsOn: 'designated',
    everyMs: EXERCISE_LOOK_MS,
    async run(of) {
      const all = await deps.store.list({ limit: EXERCISES_MAX, before: null });
      for (const one of all) {
        of.signal.throwIfAborted();
        const { state } = one.body.standing;
        if (state === 'running' || state === 'settling') await lookAt(deps, one, of);
      }
      return undefined;
    },
  };
}

async function lookAt(deps: ExerciseLoopDeps, document: Document, of: Of): Promise<void> {
  const { body, id, revision } = document;
  const nowMs = deps.now();
  const looked = exerciseAfter(body.standing, { type: 'exercise.looked_at', atMs: nowMs });
  const settled = exerciseAfter(looked ?? body.standing, { type: 'exercise.scored', atMs: nowMs });
  const standing = settled ?? looked ?? body.standing;
  const results = await resultsOf(deps, body, { isLast: settled !== null, signal: of.signal });
  const isSame =
    JSON.stringify([body.standing, body.results]) === JSON.stringify([standing, results]);
  if (isSame) return;
  // Told first, under a name that is the exercise's own: told again it counts once.
  if (settled !== null) {
    const alert = alertOf(
      { ...document, body: { ...body, standing, results } },
      deps.chance.newId(),
    );
    await deps.raise([findingOf(alert, id)], of.epoch);
  }
  const { epoch } = of;
  await deps.store.change({ epoch, nowMs, id, revision, body: { ...body, standing, results } });
}

async function resultsOf(
  deps: ExerciseLoopDeps,
  { steps, sensorIds, standing, results: before }: Exercise,
  { isLast, signal }: { readonly isLast: boolean; readonly signal: AbortSignal },
): Promise<readonly StepResult[]> {
  const fromMs = standing.startedAtMs ?? deps.now();
  const toMs = standing.endsAtMs ?? fromMs;
  const results: StepResult[] = [];
  for (const sensorId of sensorIds) {
    for (const step of steps) {
      // What was seen stays seen; how many events there were is counted again at the end.
      const known = before.find((one) => one.sensorId === sensorId && one.step === step.step);
      if (known?.isSeen === true && !isLast) {
        results.push(known);
        continue;
      }
      const found = await findingFor(deps, { step, sensorId, fromMs, toMs, signal });
      results.push(resultOfStep(step, sensorId, found));
    }
  }
  return results;
}

type Sought = {
  readonly step: ExpectedStep;
  readonly sensorId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly signal: AbortSignal;
};

async function findingFor(deps: ExerciseLoopDeps, sought: Sought): Promise<StepFinding> {
  const { step, sensorId, fromMs, toMs, signal } = sought;
  const condition = conditionOfStep(step.step);
  const scope = { sensorId, fromMs, toMs, signal };
  const [first] = await deps.events.search({
    ...{ ...scope, condition, limit: 1, order: 'ascending' },
  });
  const events = first === undefined ? 0 : await deps.events.countDistinct({ ...scope, condition });
  const firstObservedAtMs = first === undefined ? null : Date.parse(first.observed_at);
  return {
    ...{ events, firstObservedAtMs },
    firstReceivedAtMs: first === undefined ? null : Date.parse(first.received_at),
    detectedAtMs: await detectedAt(deps, sought, firstObservedAtMs),
    isDelivered: deps.isTelling(sensorId),
  };
}

/** When the expected rule or policy told of it. */
async function detectedAt(
  deps: ExerciseLoopDeps,
  { step: { detection }, sensorId, fromMs, toMs, signal }: Sought,
  sinceMs: number | null,
): Promise<number | null> {
  if (sinceMs === null || detection.by === 'event') return null;
  if (detection.by === 'policy') {
    const [told] = await deps.events.search({
      ...{ sensorId, fromMs: sinceMs, toMs, signal, limit: 1, order: 'ascending' },
      condition: { is: 'among', field: 'policy.name', values: [detection.name] },
    });
    return told === undefined ? null : Date.parse(told.received_at);
  }
  const found = await deps.alerts.list({
    ...{ sensorId, ruleId: detection.ruleId, limit: PAGE_ITEMS_MAX, before: null },
  });
  const times = found
    .filter(
      (row) => row.lastMatchedAtMs >= sinceMs && row.firstMatchedAtMs < toMs + EXERCISE_SETTLE_MS,
    )
    // One that was there before counts this as one more match.
    .map(({ createdAtMs, lastMatchedAtMs }) =>
      Math.max(sinceMs, createdAtMs < fromMs ? lastMatchedAtMs : createdAtMs),
    );
  return times.length === 0 ? null : Math.min(...times);
}

function alertOf({ id, body }: Document, alertId: string): Alert {
  const { expected, seen, medianMs } = scoreOf(body.results);
  const missed = body.results.flatMap(({ isSeen, step, miss }) =>
    isSeen || miss === null ? [] : [`${step} (${miss})`],
  );
  const speed = medianMs === null ? '' : ` Half of it within ${medianMs / 1_000} s.`;
  return {
    ...OF_FLEET,
    ...{ alertId, kind: 'exercise_result', source: 'security_event', ruleId: id },
    severity: seen === expected ? 'info' : 'medium',
    headline: `${body.name}: ${seen} of ${expected} seen`,
    detail: `${missed.length === 0 ? 'Nothing was missed.' : `Missed: ${missed.join(', ')}.`}${speed}`,
    occurredAtMs: body.standing.scoredAtMs ?? 0,
    dedupKey: `exercise_result ${id}`,
  };
}
