// The digest of one destination and one local day. Its row is written with the claim, before anything leaves, and only an
// attempt that surely left nothing behind is followed by another: a day is told once at most.
//   due      nothing was tried
//   sending  an attempt is under way
//   waiting  an attempt failed before anything was taken; it is tried again
//   sent     the other side took it
//   failed   it was refused, or could not be handed over for hours
//   unsure   it may have arrived: the connection or the Console went away at the end
//   missed   nobody tried on that day
// invariant: I8; decision: D166
import { assign, type SnapshotFrom, setup } from 'xstate';
import {
  DIGEST_BACKOFF_MAX_MS,
  DIGEST_BACKOFF_MIN_MS,
  DIGEST_GIVE_UP_MS,
  DIGEST_JITTER_RATIO,
} from './limits.ts';

export type DigestRunContext = {
  readonly dueAtMs: number;
  readonly giveUpAtMs: number;
  readonly attempts: number;
  readonly endedAtMs: number | null;
  /** Why it waits or was not sent, or who did not get it. */
  readonly reason: string | null;
};
export type DigestRunEvent =
  | { type: 'attempt.began'; atMs: number }
  /** `note`: what the other side left out of it. */
  | { type: 'attempt.taken'; atMs: number; note: string | null }
  /** Nothing was taken. `isFinal`: trying again is of no use. */
  | { type: 'attempt.failed'; atMs: number; reason: string; isFinal: boolean; chance: number }
  /** All was handed over, and no answer came. */
  | { type: 'attempt.unsure'; atMs: number; reason: string }
  /** The Console that sent it is gone. */
  | { type: 'run.lost'; atMs: number; reason: string }
  | { type: 'day.passed'; atMs: number; reason: string };

type At = { readonly atMs: number };
type Told = At & { readonly reason: string };

export const digestRunMachine = setup({
  types: {
    context: {} as DigestRunContext,
    events: {} as DigestRunEvent,
    input: {} as { readonly nowMs: number },
    tags: {} as 'ended',
  },
  guards: {
    isOver: ({ context }, params: At & { isFinal: boolean }) =>
      params.isFinal || params.atMs >= context.giveUpAtMs,
  },
  actions: {
    countAttempt: assign(({ context }) => ({ attempts: context.attempts + 1 })),
    planRetry: assign(({ context }, params: Told & { chance: number }) => ({
      dueAtMs: params.atMs + digestDelayMs(context.attempts, params.chance),
      reason: params.reason,
    })),
    noteEnd: assign((_, params: At & { reason: string | null }) => ({
      endedAtMs: params.atMs,
      reason: params.reason,
    })),
  },
}).createMachine({
  id: 'digest-run',
  context: ({ input }) => ({
    dueAtMs: input.nowMs,
    giveUpAtMs: input.nowMs + DIGEST_GIVE_UP_MS,
    ...{ attempts: 0, endedAtMs: null, reason: null },
  }),
  initial: 'due',
  states: {
    due: {
      description: 'Nothing was tried.',
      on: {
        'attempt.began': { target: 'sending', actions: 'countAttempt' },
        'day.passed': {
          target: 'missed',
          actions: { type: 'noteEnd', params: ({ event }) => event },
        },
      },
    },
    sending: {
      description: 'An attempt is under way.',
      on: {
        'attempt.taken': {
          target: 'sent',
          actions: {
            type: 'noteEnd',
            params: ({ event }) => ({ atMs: event.atMs, reason: event.note }),
          },
        },
        'attempt.failed': [
          {
            guard: { type: 'isOver', params: ({ event }) => event },
            target: 'failed',
            actions: { type: 'noteEnd', params: ({ event }) => event },
          },
          { target: 'waiting', actions: { type: 'planRetry', params: ({ event }) => event } },
        ],
        'attempt.unsure': {
          target: 'unsure',
          actions: { type: 'noteEnd', params: ({ event }) => event },
        },
        'run.lost': {
          target: 'unsure',
          actions: { type: 'noteEnd', params: ({ event }) => event },
        },
      },
    },
    waiting: {
      description: 'An attempt failed before anything was taken; it is tried again.',
      on: { 'attempt.began': { target: 'sending', actions: 'countAttempt' } },
    },
    sent: { tags: 'ended', description: 'The other side took it.' },
    failed: {
      tags: 'ended',
      description: 'It was refused, or could not be handed over for hours.',
    },
    unsure: {
      tags: 'ended',
      description: 'It may have arrived: the connection or the Console went away at the end.',
    },
    missed: { tags: 'ended', description: 'Nobody tried on that day.' },
  },
});

export type DigestRunState = SnapshotFrom<typeof digestRunMachine>['value'];

/** How long a run waits after its so many attempts. */
export function digestDelayMs(attempts: number, chance: number): number {
  const doubled = DIGEST_BACKOFF_MIN_MS * 2 ** Math.min(30, Math.max(0, attempts - 1));
  const whole = Math.min(DIGEST_BACKOFF_MAX_MS, doubled);
  return Math.round(whole * (1 - DIGEST_JITTER_RATIO * chance));
}
