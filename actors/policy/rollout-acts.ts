// What people do with rollouts, and the look that drives them. Each act is judged on the book and committed with its
// transition; a step that somebody else took first is not taken again. decision: D82, D90
import {
  type AssignmentRow,
  type PolicyBook,
  type RolloutRow,
  targetId,
  versionId,
} from '../../machines/console/policy/book.rules.ts';
import type { RolloutEvent } from '../../machines/console/policy/rollout.machine.ts';
import {
  cutOf,
  isOpen,
  mistakesOfPlan,
  type RolloutLimits,
  type RolloutPlan,
  type RolloutTally,
  usualLimits,
} from '../../machines/console/policy/rollout.rules.ts';
import {
  changesOf,
  leavingRollouts,
  mayReturn,
  openRollouts,
  type StartRefusal,
  type Touched,
  whyNotStart,
} from '../../machines/console/policy/rollout-judge.rules.ts';
import { beginRollout, stepRollout } from '../../machines/console/policy/rollout-step.rules.ts';
import { type Baselines, baselinesOf } from '../../machines/console/policy/rollout-tally.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import type { RolloutMove } from '../../storage/ports/policy/rollout-store.ts';
import type { Logger } from '../runtime/logger.ts';
import { type Acted, type BookService, entryOf, type Judged } from './policy-book.ts';
import type { RolloutLook, RolloutLooks } from './rollout-looks.ts';
import type { WantedPolicies } from './wanted-policies.ts';

export type RolloutWord = 'pause' | 'resume' | 'abort';
export type RolloutActs = {
  start(
    input: AuditContext & {
      readonly rolloutId: string;
      readonly next: Omit<AssignmentRow, 'createdAtMs' | 'createdBy'>;
      /** A limit that is absent is the usual one for so many sensors. */
      readonly plan: Omit<RolloutPlan, 'limits'> & { readonly limits: Partial<RolloutLimits> };
    },
  ): Promise<Acted<RolloutRow>>;
  say(
    input: AuditContext & { readonly rolloutId: string; readonly word: RolloutWord },
  ): Promise<Acted<RolloutRow>>;
  /** Looks at every rollout under way and takes the steps that are due. Rejects with StoreUnavailable and Overtaken. */
  drive(epoch: number): Promise<void>;
};
export type RolloutActsDeps = {
  readonly book: BookService;
  readonly looks: RolloutLooks;
  readonly wanted: Pick<WantedPolicies, 'touchedBy' | 'readLabels'>;
  readonly now: () => number;
  readonly logger: Logger;
};
type Doing = AuditContext;
type Step = {
  readonly from: RolloutRow | null;
  readonly to: RolloutRow;
  readonly event: RolloutWord | 'start' | 'look';
  readonly tally: RolloutTally | null;
  readonly body?: { readonly baselines: Baselines };
};

const ABSENT = refuse('not_found', 'There is no such rollout.');
/** Somebody else took the step: nothing is written. */
const TAKEN = refuse('rollout_state', 'The rollout has moved meanwhile.');

/** Makes the acts. */
export function createRolloutActs(deps: RolloutActsDeps): RolloutActs {
  const { book, looks } = deps;
  return {
    start: startIn(deps),
    say: sayIn(deps),
    async drive(epoch) {
      const open = openRollouts(book.book());
      looks.keepOnly(open.map(({ rolloutId }) => rolloutId));
      for (const row of open) await driveOne(deps, row, epoch);
    },
  };
}

function startIn({ book, looks, wanted }: RolloutActsDeps): RolloutActs['start'] {
  return async (input) => {
    const { rolloutId, plan: asked, next: wish, ...doing } = input;
    const errors = mistakesOfPlan(asked);
    if (errors.length > 0) return refuse('schema_violation', 'The plan is not one.', { errors });
    const next: AssignmentRow = { ...wish, createdAtMs: doing.nowMs, createdBy: doing.actor };
    await wanted.readLabels(true);
    const ids = wanted.touchedBy(next).map(({ sensorId }) => sensorId);
    const sights = await looks.sights(ids);
    const alive = sights.map(({ sensorId }) => sensorId);
    const plan = { ...asked, limits: { ...usualLimits(alive.length), ...asked.limits } };
    const stranger = plan.stages.flatMap((one) => one.sensorIds).find((id) => !alive.includes(id));
    if (stranger !== undefined) {
      return refuse('reference_unknown', `The sensor ${stranger} would not have this version.`);
    }
    const cut = cutOf(rolloutId, alive, plan.stages[0]?.percent ?? 100);
    return book.act(doing.nowMs, (on): Judged<RolloutRow> => {
      const touched = touchedIn(wanted, next, alive);
      const refused = whyNotStart(on, next, touched);
      if (refused !== null) return refusalOf(refused);
      const version = on.versions.get(versionId(next.packId, next.version));
      const facts = { rolloutId, target: next.target, next, startedBy: doing.actor };
      const row = beginRollout(
        {
          ...facts,
          before: on.assignments.get(targetId(next.target)) ?? null,
          startedAtMs: doing.nowMs,
        },
        {
          ...{ plan, cut, atMs: doing.nowMs },
          mayReturn: version !== undefined && mayReturn(on, touched.given, version),
        },
      );
      const body = { baselines: baselinesOf(sights) };
      const begun = stepIn(on, doing, { from: null, to: row, event: 'start', tally: null, body });
      return { ...begun, changes: [...leavingRollouts(on), ...begun.changes] };
    });
  };
}

function sayIn({ book }: RolloutActsDeps): RolloutActs['say'] {
  return async (input) => {
    const { rolloutId, word, ...doing } = input;
    return book.act(doing.nowMs, (on): Judged<RolloutRow> => {
      const row = on.rollouts.get(rolloutId);
      if (row === undefined) return ABSENT;
      const event: RolloutEvent = { type: `rollout.${word}`, atMs: doing.nowMs };
      const to = stepRollout(row, event);
      if (to === null) return refuse('rollout_state', `It is ${row.state}: it cannot ${word}.`);
      return stepIn(on, doing, { from: row, to, event: word, tally: null });
    });
  };
}

async function driveOne(deps: RolloutActsDeps, row: RolloutRow, epoch: number): Promise<void> {
  const { book, looks, now, logger } = deps;
  const { plan, stage } = row.context;
  const look = await looks.look(row);
  const ids = look.sights.map(({ sensorId }) => sensorId);
  const percent = plan.stages[stage + 1]?.percent ?? 100;
  const nextCut = cutOf(row.rolloutId, ids, percent);
  const nowMs = now();
  const { tally } = look;
  const event: RolloutEvent = { type: 'rollout.looked', atMs: nowMs, tally, nextCut };
  const to = stepRollout(row, event);
  if (to === null) return;
  const isNextStage = to.context.stage > stage;
  const body = isNextStage ? { body: { baselines: baselinesAfter(look) } } : {};
  const step: Step = { from: row, to, event: 'look', tally, ...body };
  const done = await book.act(
    nowMs,
    (on) => {
      const isSame = on.rollouts.get(row.rolloutId)?.sequence === row.sequence;
      return isSame ? stepIn(on, { actor: 'console', nowMs }, step) : TAKEN;
    },
    epoch,
  );
  if (!done.ok) return;
  const facts = { rolloutId: row.rolloutId, state: to.state, stage: to.context.stage };
  if (to.context.failed === null) logger.info(facts, 'a rollout moved');
  else logger.warn({ ...facts, ...to.context.failed }, 'a gate of a rollout failed');
}

/** The counters of whoever is not reached yet are noted as they are now; who was reached keeps what was noted. */
function baselinesAfter({ sights, standings, baselines }: RolloutLook): Baselines {
  const waiting = sights.filter(({ sensorId }) => standings.get(sensorId) === 'waiting');
  return { ...baselines, ...baselinesOf(waiting) };
}

function touchedIn(
  wanted: Pick<WantedPolicies, 'touchedBy'>,
  next: AssignmentRow,
  alive: readonly string[],
): Touched {
  const living = new Set(alive);
  const touched = wanted.touchedBy(next).filter(({ sensorId }) => living.has(sensorId));
  const mine = new Set(touched.map(({ sensorId }) => sensorId));
  const given = new Map(
    touched.flatMap(({ given: one }) => (one ? [[one.assignmentId, one]] : [])),
  );
  return {
    sensors: mine.size,
    given: [...given.values()],
    touches: (rollout) => wanted.touchedBy(rollout.next).some(({ sensorId }) => mine.has(sensorId)),
  };
}

/** What a step writes: the rows, the transition, and what the audit trail says of it. */
function stepIn(on: PolicyBook, doing: Doing, step: Step) {
  const { from, to, event, tally } = step;
  const move: RolloutMove = {
    ...{ rolloutId: to.rolloutId, sequence: to.sequence, atMs: to.movedAtMs, event, tally },
    ...{ from: from?.state ?? null, to: to.state, actor: doing.actor, context: to.context },
  };
  const action = actionOf(step);
  const { packId, version } = to.next;
  const after = {
    ...{ target: targetId(to.target), pack_id: packId, version },
    manifest_sha256: on.versions.get(versionId(packId, version))?.manifestSha256 ?? '',
    ...{ state: to.state, stage: to.context.stage, failed: to.context.failed },
  };
  const before = from === null ? null : { state: from.state, stage: from.context.stage };
  return {
    ok: true as const,
    answer: to,
    changes: changesOf(to, step.body),
    moves: [move],
    audit: action === null ? [] : [entryOf(doing, { action, target: to.rolloutId, before, after })],
  };
}

const ACTIONS = {
  start: 'rollout.start',
  pause: 'rollout.pause',
  resume: 'rollout.resume',
  abort: 'rollout.abort',
} as const;

function actionOf({ from, to, event }: Step) {
  if (event !== 'look') return ACTIONS[event];
  if (!isOpen(to.state)) return 'rollout.end' as const;
  if (to.state === 'halted') return 'rollout.halt' as const;
  if (to.state === 'returning') return 'rollout.return' as const;
  const hasAdvanced = to.context.stage > (from?.context.stage ?? 0);
  return hasAdvanced ? ('rollout.advance' as const) : null;
}

function refusalOf(refused: StartRefusal): Refusal {
  switch (refused.code) {
    case 'rollout_in_the_way':
      return refuse(refused.code, `The rollout ${refused.rolloutId} reaches some of its sensors.`);
    case 'rollout_reaches_nobody':
      return refuse(refused.code, 'Every sensor of the target has something that goes before.');
    case 'reference_unknown':
      return refuse(refused.code, 'There is no such version.');
    case 'bound_reached':
      return refuse(refused.code, 'Too many rollouts are under way.');
    case 'rollback_refused':
      return refuse(refused.code, 'What these sensors have does not name it in rollback_to.');
    default:
      return refuse(refused.code, 'The version was not signed for this.');
  }
}
