// One rollout as the Console drives it: each look counts what the sensors reached so far say, and decides. It has no timers:
// a look bears the time, so that whoever looks next after a crash decides the same. decision: D90; invariant: I8
//   running.reaching   a stage is told; its sensors answer
//   running.watching   they answered; the stage's wait runs
//   running.asking     the wait is over; a person has to say go on
//   paused             nothing advances; the gates still count
//   halted             a gate failed and nothing returns by itself; sensors stay as they are
//   returning          the sensors reached go back to what the target had before
//   done               the version is the target's own
//   returned           it is as if it had not begun
//   stopped            aborted, or left by all sensors, where no return was signed: each sensor keeps what it has
import { assign, type SnapshotFrom, setup } from 'xstate';
import { ROLLOUT_RETURN_WAIT_MS } from './limits.ts';
import {
  type FailedGate,
  failingGate,
  isSettled,
  type RolloutPlan,
  type RolloutTally,
} from './rollout.rules.ts';

export type RolloutInput = {
  readonly plan: RolloutPlan;
  /** Whether the signed manifest allows the sensors reached to go back to what they had. */
  readonly mayReturn: boolean;
  readonly atMs: number;
  /** The rank below which the first stage reaches. */
  readonly cut: number;
};
export type RolloutContext = Omit<RolloutInput, 'atMs' | 'cut'> & {
  /** Of `plan.stages`. */
  readonly stage: number;
  /** Of each stage begun: when, and the rank below which it reaches. */
  readonly begun: readonly { readonly atMs: number; readonly cut: number }[];
  /** When the sensors of this stage had answered; null before. */
  readonly settledAtMs: number | null;
  /** A person said that the next stage may follow. */
  readonly hasWord: boolean;
  readonly failed: FailedGate | null;
  /** Since when it returns. */
  readonly returningAtMs: number | null;
  /** Sensors that were heard and had not gone back when the return ended. */
  readonly leftBehind: number;
};
type Look = { readonly atMs: number; readonly tally: RolloutTally; readonly nextCut: number };
export type RolloutEvent =
  | ({ readonly type: 'rollout.looked' } & Look)
  | { readonly type: 'rollout.pause'; readonly atMs: number }
  | { readonly type: 'rollout.resume'; readonly atMs: number }
  | { readonly type: 'rollout.abort'; readonly atMs: number };

const looked = ({ event }: { event: Look }): Look => event;
/** The gates are judged before anything advances; one that has nobody left proves nothing. */
const GATED = [
  {
    guard: { type: 'failsAndReturns', params: looked },
    target: '#rollout.returning',
    actions: [
      { type: 'noteFailed', params: looked },
      { type: 'noteReturning', params: looked },
    ],
  },
  {
    guard: { type: 'fails', params: looked },
    target: '#rollout.halted',
    actions: { type: 'noteFailed', params: looked },
  },
] as const;
const LOOKED = [
  { guard: { type: 'mayReturnNobody', params: looked }, target: '#rollout.returned' },
  { guard: { type: 'hasNobody', params: looked }, target: '#rollout.stopped' },
  ...GATED,
] as const;
const ABORTED = [
  {
    guard: 'mayReturn',
    target: '#rollout.returning',
    actions: {
      type: 'noteReturning',
      params: ({ event }: { event: { readonly atMs: number } }) => ({ atMs: event.atMs }),
    },
  },
  { target: '#rollout.stopped' },
] as const;
const RESUMED = [
  { guard: 'hasAnswers', target: '#rollout.running.watching' },
  { target: '#rollout.running.reaching' },
] as const;

export const rolloutMachine = setup({
  types: {
    context: {} as RolloutContext,
    events: {} as RolloutEvent,
    input: {} as RolloutInput,
    tags: {} as 'open' | 'split' | 'can-pause' | 'can-resume',
  },
  guards: {
    mayReturn: ({ context }) => context.mayReturn,
    failsAndReturns: ({ context }, { tally }: Look) =>
      context.plan.onFailure === 'return' &&
      context.mayReturn &&
      failingGate(context.plan.limits, tally) !== null,
    fails: ({ context }, { tally }: Look) => failingGate(context.plan.limits, tally) !== null,
    mayReturnNobody: ({ context }, { tally }: Look) => context.mayReturn && tally.touched === 0,
    hasNobody: (_, { tally }: Look) => tally.touched === 0,
    hasSettled: (_, { tally }: Look) => isSettled(tally),
    hasAnswers: ({ context }) => context.settledAtMs !== null,
    mustAsk: ({ context }, look: Look) =>
      isOver(context, look) && stageOf(context)?.needsWord === true && !context.hasWord,
    isLastOver: ({ context }, look: Look) =>
      isOver(context, look) && context.stage === context.plan.stages.length - 1,
    isOver: ({ context }, look: Look) => isOver(context, look),
    isBack: ({ context }, { tally, atMs }: Look) =>
      tally.holding === 0 || atMs - (context.returningAtMs ?? atMs) >= ROLLOUT_RETURN_WAIT_MS,
  },
  actions: {
    noteFailed: assign({
      failed: ({ context }, { tally }: Look) => failingGate(context.plan.limits, tally),
    }),
    forgetFailed: assign({ failed: null }),
    noteSettled: assign({ settledAtMs: (_, { atMs }: { atMs: number }) => atMs }),
    noteWord: assign({ hasWord: true }),
    noteReturning: assign({ returningAtMs: (_, { atMs }: { atMs: number }) => atMs }),
    noteLeftBehind: assign({ leftBehind: (_, { tally }: Look) => tally.holding }),
    beginStage: assign(({ context }, { atMs, nextCut }: Look) => ({
      stage: context.stage + 1,
      // What was reached stays reached.
      begun: [...context.begun, { atMs, cut: Math.max(nextCut, context.begun.at(-1)?.cut ?? 0) }],
      settledAtMs: null,
      hasWord: false,
    })),
  },
}).createMachine({
  id: 'rollout',
  context: ({ input: { plan, mayReturn, atMs, cut } }) => ({
    ...{ plan, mayReturn, stage: 0, begun: [{ atMs, cut }], settledAtMs: null },
    ...{ hasWord: false, failed: null, returningAtMs: null, leftBehind: 0 },
  }),
  initial: 'running',
  states: {
    running: {
      tags: ['open', 'split', 'can-pause'],
      initial: 'reaching',
      on: { 'rollout.pause': 'paused', 'rollout.abort': ABORTED },
      states: {
        reaching: {
          description: 'The sensors of a stage are told; each answers what became of it.',
          on: {
            'rollout.looked': [
              ...LOOKED,
              {
                guard: { type: 'hasSettled', params: looked },
                target: 'watching',
                actions: { type: 'noteSettled', params: looked },
              },
            ],
          },
        },
        watching: {
          description: 'They answered, and live with it for as long as the stage says.',
          on: {
            'rollout.looked': [
              ...LOOKED,
              { guard: { type: 'mustAsk', params: looked }, target: 'asking' },
              { guard: { type: 'isLastOver', params: looked }, target: '#rollout.done' },
              {
                guard: { type: 'isOver', params: looked },
                target: 'reaching',
                actions: { type: 'beginStage', params: looked },
              },
            ],
          },
        },
        asking: {
          description: 'The stage held; the next one waits for the word of a person.',
          tags: 'can-resume',
          on: {
            'rollout.looked': LOOKED,
            'rollout.resume': { target: 'watching', actions: 'noteWord' },
          },
        },
      },
    },
    paused: {
      description: 'Nothing advances until a person resumes; the gates still count.',
      tags: ['open', 'split', 'can-resume'],
      on: {
        'rollout.looked': GATED,
        'rollout.resume': RESUMED,
        'rollout.abort': ABORTED,
      },
    },
    halted: {
      description: 'A gate failed. The next look after a resume judges the gates again.',
      tags: ['open', 'split', 'can-resume'],
      on: {
        'rollout.resume': RESUMED.map((one) => ({ ...one, actions: 'forgetFailed' as const })),
        'rollout.abort': ABORTED,
      },
    },
    returning: {
      description: 'The sensors reached are told what the target had before.',
      tags: 'open',
      on: {
        'rollout.looked': {
          guard: { type: 'isBack', params: looked },
          target: 'returned',
          actions: { type: 'noteLeftBehind', params: looked },
        },
      },
    },
    done: { type: 'final', description: 'The version is what the target has.' },
    returned: { type: 'final', description: 'The target has what it had before.' },
    stopped: {
      type: 'final',
      description: 'Aborted where no return was signed: each sensor keeps what it has.',
      tags: 'split',
    },
  },
});

export type RolloutSnapshot = SnapshotFrom<typeof rolloutMachine>;

function stageOf({ plan, stage }: RolloutContext) {
  return plan.stages[stage];
}

// Time alone is no proof: somebody has to have it in force still.
function isOver(context: RolloutContext, { atMs, tally }: Look): boolean {
  const { settledAtMs } = context;
  return (
    tally.inForce > 0 &&
    settledAtMs !== null &&
    atMs - settledAtMs >= (stageOf(context)?.waitMs ?? 0)
  );
}
