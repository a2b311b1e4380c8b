// The policies the Console wants on this node. A set is verified whole before anything is written, and in force before the
// one before it leaves; whatever is refused, or cannot be done now, leaves in force what is. decision: D78
//   reading   what is held is read from the disk and verified again
//   deciding  transient: keys first, then the switch, the own policies, the pack
//   settled   nothing is to be done
//   keys      statements about keys are followed as far as they verify
//   fetching  a set is downloaded, and verified by this node
//   applying  the engine tries it, has it in force, and it is kept on disk
//   waiting   it could not be done now; it is tried again
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import { unprovidedActor } from '../unprovided.ts';
import type { EnforcementState, PolicyAnswer } from '../wire/policy.ts';
import { backoffMs } from './backoff.rules.ts';
import {
  type Fetched,
  type Held,
  heldAfter,
  isSame,
  jobsOf,
  NO_WISH,
  NONE_REFUSED,
  NOTHING_HELD,
  needsDownload,
  nextJob,
  type PolicyJob,
  type Refusal,
  type Refused,
  slotOf,
  type Wish,
  wishAfter,
} from './policy.rules.ts';

export type PolicyInput = {
  readonly seed: number;
  readonly minMs: number;
  readonly maxMs: number;
};
type PolicyContext = PolicyInput & {
  readonly held: Held;
  readonly wish: Wish;
  readonly refused: Refused;
  /** The step under way, or the last one. */
  readonly job: PolicyJob | null;
  readonly fetched: Fetched | null;
  /** Failures in a row. */
  readonly failures: number;
  /** Why the step waits. */
  readonly trouble: string | null;
};
type PolicyEvent =
  | { readonly type: 'wish.received'; readonly answer: PolicyAnswer }
  /** Another engine runs, or another build of it: what it could not do it may do now. */
  | { readonly type: 'engine.changed' };
export type StepResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };
type Step = { readonly job: PolicyJob; readonly held: Held };
/** Whether any statement was taken, and why one was not. */
export type KeysResult = { readonly isChanged: boolean; readonly refusal: Refusal | null };

const RETRY_AFTER_KEYS = ['custom', 'pack'] as const;

export const policyMachine = setup({
  types: {
    context: {} as PolicyContext,
    events: {} as PolicyEvent,
    input: {} as PolicyInput,
    tags: {} as 'settled',
  },
  delays: {
    retryMs: ({ context: { failures, minMs, maxMs, seed } }) =>
      backoffMs({ failures, minMs, maxMs, seed }),
  },
  actors: {
    readHeld: unprovidedActor<Held>('readHeld'),
    takeKeys: unprovidedActor<KeysResult, Step>('takeKeys'),
    /** Rejects when it cannot be had now; what is wrong with it for good is a refusal. */
    fetchSet: unprovidedActor<StepResult<Fetched>, Step>('fetchSet'),
    /** Given what is to be held afterwards; the same rule. */
    applySet: unprovidedActor<StepResult<null>, Step & { readonly next: Held }>('applySet'),
  },
  actions: {
    noteWish: assign(({ context }, { answer }: { answer: PolicyAnswer }) => {
      const jobs = jobsOf(answer);
      const slots = jobs.map(slotOf);
      const refused = { ...context.refused };
      // Another wish makes the refusal of the one before history.
      for (const [at, slot] of slots.entries()) {
        if (!isSame(refused[slot]?.job ?? null, jobs[at])) refused[slot] = null;
      }
      return { refused, wish: wishAfter(context.wish, jobs, { held: context.held, refused }) };
    }),
    noteHeld: assign((_, { held }: { held: Held }) => ({ held })),
    pickJob: assign(({ context }) => ({ job: nextJob(context.wish), fetched: null })),
    noteFetched: assign((_, { fetched }: { fetched: Fetched | null }) => ({ fetched })),
    noteApplied: assign(({ context }) => {
      const { job } = context;
      if (job === null) return {};
      const held = heldAfter(context.held, job, context.fetched);
      return { held, ...finished(context, job, null), failures: 0, trouble: null };
    }),
    noteRefused: assign(({ context }, { refusal }: { refusal: Refusal | null }) => ({
      ...(context.job === null ? {} : finished(context, context.job, refusal)),
      failures: 0,
      trouble: null,
    })),
    noteKeys: assign(({ context }, { result }: { result: KeysResult }) => {
      if (context.job === null) return {};
      const after = finished(context, context.job, result.refusal);
      return {
        ...(result.isChanged ? again(after, RETRY_AFTER_KEYS, () => true) : after),
        failures: 0,
        trouble: null,
      };
    }),
    noteTrouble: assign(({ context }, { reason }: { reason: string }) => ({
      failures: context.failures + 1,
      trouble: reason,
    })),
    noteEngine: assign(({ context }) => ({
      ...again(context, RETRY_AFTER_KEYS, ({ state }) => state === 'failed'),
      failures: 0,
    })),
  },
  guards: {
    hasNothing: ({ context }) => context.job === null,
    isKeys: ({ context }) => context.job?.kind === 'keys',
    needsDownload: ({ context }) => context.job !== null && needsDownload(context.job),
    isGood: (_, { isGood }: { isGood: boolean }) => isGood,
  },
}).createMachine({
  id: 'policy',
  context: ({ input }) => ({
    ...input,
    held: NOTHING_HELD,
    wish: NO_WISH,
    refused: NONE_REFUSED,
    job: null,
    fetched: null,
    failures: 0,
    trouble: null,
  }),
  initial: 'reading',
  on: {
    'wish.received': { actions: { type: 'noteWish', params: ({ event }) => event } },
    'engine.changed': { actions: 'noteEngine' },
  },
  states: {
    reading: {
      description: 'What is held is read from the disk and verified again.',
      invoke: {
        id: 'readHeld',
        src: 'readHeld',
        onDone: {
          target: 'deciding',
          actions: {
            type: 'noteHeld',
            params: ({ event }) => ({ held: event.output ?? NOTHING_HELD }),
          },
        },
        // Nothing is held that can be read: the Console is asked for it again.
        onError: 'deciding',
      },
    },
    deciding: {
      description: 'Transient: the next step is picked.',
      entry: 'pickJob',
      always: [
        { guard: 'hasNothing', target: 'settled' },
        { guard: 'isKeys', target: 'keys' },
        { guard: 'needsDownload', target: 'fetching' },
        { target: 'applying' },
      ],
    },
    settled: {
      description: 'Nothing is to be done.',
      tags: 'settled',
      on: {
        'wish.received': {
          target: 'deciding',
          actions: { type: 'noteWish', params: ({ event }) => event },
        },
        'engine.changed': { target: 'deciding', actions: 'noteEngine' },
      },
    },
    keys: {
      description: 'Statements about keys are followed as far as they verify.',
      invoke: {
        id: 'takeKeys',
        src: 'takeKeys',
        input: ({ context }) => stepOf(context),
        onDone: {
          target: 'deciding',
          actions: {
            type: 'noteKeys',
            params: ({ event }) => ({
              result: event.output ?? { isChanged: false, refusal: null },
            }),
          },
        },
        onError: {
          target: 'waiting',
          actions: {
            type: 'noteTrouble',
            params: ({ event }) => ({ reason: sentence(event.error) }),
          },
        },
      },
    },
    fetching: {
      description: 'A set is downloaded, and verified by this node.',
      invoke: {
        id: 'fetchSet',
        src: 'fetchSet',
        input: ({ context }) => stepOf(context),
        onDone: [
          {
            guard: {
              type: 'isGood',
              params: ({ event }) => ({ isGood: event.output?.ok === true }),
            },
            target: 'applying',
            actions: {
              type: 'noteFetched',
              params: ({ event }) => ({ fetched: event.output?.ok ? event.output.value : null }),
            },
          },
          {
            target: 'deciding',
            actions: {
              type: 'noteRefused',
              params: ({ event }) => ({ refusal: refusalIn(event.output) }),
            },
          },
        ],
        onError: {
          target: 'waiting',
          actions: {
            type: 'noteTrouble',
            params: ({ event }) => ({ reason: sentence(event.error) }),
          },
        },
      },
    },
    applying: {
      description: 'The engine tries it, has it in force, and it is kept on disk.',
      invoke: {
        id: 'applySet',
        src: 'applySet',
        input: ({ context }) => {
          const step = stepOf(context);
          return { ...step, next: heldAfter(step.held, step.job, context.fetched) };
        },
        onDone: [
          {
            guard: {
              type: 'isGood',
              params: ({ event }) => ({ isGood: event.output?.ok === true }),
            },
            target: 'deciding',
            actions: 'noteApplied',
          },
          {
            target: 'deciding',
            actions: {
              type: 'noteRefused',
              params: ({ event }) => ({ refusal: refusalIn(event.output) }),
            },
          },
        ],
        onError: {
          target: 'waiting',
          actions: {
            type: 'noteTrouble',
            params: ({ event }) => ({ reason: sentence(event.error) }),
          },
        },
      },
    },
    waiting: {
      description: 'It could not be done now; it is tried again.',
      tags: 'settled',
      after: { retryMs: 'deciding' },
      on: {
        'wish.received': {
          target: 'deciding',
          actions: { type: 'noteWish', params: ({ event }) => event },
        },
        'engine.changed': { target: 'deciding', actions: 'noteEngine' },
      },
    },
  },
});

// Steps are entered with a job only; this stands for the case that cannot be.
const NO_JOB: PolicyJob = { kind: 'keys', rotations: [] };
const REASON_MAX_CHARS = 512;

function stepOf({ job, held }: PolicyContext): Step {
  return { job: job ?? NO_JOB, held };
}

/** The step is over. A wish that came meanwhile stays. */
function finished(
  { wish, refused }: Pick<PolicyContext, 'wish' | 'refused'>,
  job: PolicyJob,
  refusal: Refusal | null,
): Pick<PolicyContext, 'wish' | 'refused'> {
  const slot = slotOf(job);
  if (!isSame(wish[slot], job)) return { wish, refused };
  return {
    wish: { ...wish, [slot]: null },
    refused: { ...refused, [slot]: refusal === null ? null : { job, refusal } },
  };
}

/** What was refused for a cause that may be gone is wished again. */
function again(
  { wish, refused }: Pick<PolicyContext, 'wish' | 'refused'>,
  slots: readonly (keyof Wish)[],
  isCause: (refusal: Refusal) => boolean,
): Pick<PolicyContext, 'wish' | 'refused'> {
  let next = { wish, refused };
  for (const slot of slots) {
    const one = refused[slot];
    if (one === null || !isCause(one.refusal)) continue;
    next = {
      wish: { ...next.wish, [slot]: next.wish[slot] ?? one.job },
      refused: { ...next.refused, [slot]: null },
    };
  }
  return next;
}

function refusalIn(output: StepResult<unknown> | undefined): Refusal {
  if (output?.ok === false) return output.refusal;
  return { state: 'failed', code: 'unknown', reason: '' };
}

function sentence(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, REASON_MAX_CHARS);
}

/** How the pack stands, short of what the engine says of its policies; null = as its policies do. */
export function packStandingOf(snapshot: PolicySnapshot): {
  readonly job: PolicyJob | null;
  readonly state: EnforcementState | null;
  readonly code?: string;
  readonly reason?: string;
} {
  const { wish, refused, job, trouble, held } = snapshot.context;
  const wished = wish.pack;
  if (wished !== null) {
    const isUnderWay = isSame(job, wished);
    if (isUnderWay && snapshot.value === 'fetching') return { job: wished, state: 'verifying' };
    if (isUnderWay && snapshot.value === 'applying') return { job: wished, state: 'applying' };
    return {
      job: wished,
      state: 'pending',
      ...(trouble === null ? {} : { reason: trouble }),
    };
  }
  if (refused.pack !== null) return { job: refused.pack.job, ...refused.pack.refusal };
  if (held.pack === null) return { job: null, state: 'removed' };
  return { job: null, state: null };
}

export type PolicyActorRef = ActorRefFrom<typeof policyMachine>;
export type PolicySnapshot = SnapshotFrom<typeof policyMachine>;
