// Whether this Console counts requests together with its replicas, in the shared counter, or by itself.
// How many each role may ask stands in `gateway/capabilities/access/rate-limits.ts`. decision: D41
//   connecting  the first look at the counter; this Console counts by itself meanwhile
//   shared      requests are counted in the shared counter; a count that fails ends it at once
//   checking    the same, while a look asks whether the counter still answers: an idle Console notices its end as well
//   apart       the counter failed; this Console counts by itself, so that no request waits for it
//   looking     the same, while a look asks whether the counter is back; it takes two good ones in a row
//   stopped     nothing more is asked
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import {
  SHARED_LIMITS_CHECK_INTERVAL_MS,
  SHARED_LIMITS_GOOD_LOOKS,
  SHARED_LIMITS_LOOK_TIMEOUT_MS,
  SHARED_LIMITS_RETRY_MS,
} from '../../limits.ts';
import { unprovided, unprovidedActor } from '../../unprovided.ts';

type RateLimitsContext = {
  /** Good looks in a row since the counter failed. */
  readonly good: number;
  /** How often the counter failed. */
  readonly falls: number;
};
export type RateLimitsEvent = { type: 'count.failed'; reason: string } | { type: 'limits.stop' };

const TOO_LONG = 'it did not answer in time';

export const rateLimitsMachine = setup({
  types: {
    context: {} as RateLimitsContext,
    events: {} as RateLimitsEvent,
    tags: {} as 'counts-together',
  },
  delays: {
    checkMs: SHARED_LIMITS_CHECK_INTERVAL_MS,
    retryMs: SHARED_LIMITS_RETRY_MS,
    timeoutMs: SHARED_LIMITS_LOOK_TIMEOUT_MS,
  },
  actors: { look: unprovidedActor<void>('look') },
  guards: { isSteady: ({ context }) => context.good + 1 >= SHARED_LIMITS_GOOD_LOOKS },
  actions: {
    countFall: assign({ good: 0, falls: ({ context }) => context.falls + 1 }),
    countGood: assign({ good: ({ context }) => context.good + 1 }),
    forgetGood: assign({ good: 0 }),
    tellShared: unprovided('tellShared'),
    tellApart: unprovided<{ reason: string }>('tellApart'),
  },
}).createMachine({
  id: 'rate-limits',
  context: { good: 0, falls: 0 },
  initial: 'connecting',
  states: {
    connecting: {
      description: 'The first look at the counter.',
      invoke: {
        id: 'look',
        src: 'look',
        onDone: { target: 'shared', actions: 'tellShared' },
        onError: {
          target: 'apart',
          actions: [
            'countFall',
            { type: 'tellApart', params: ({ event }) => ({ reason: String(event.error) }) },
          ],
        },
      },
      after: {
        timeoutMs: {
          target: 'apart',
          actions: ['countFall', { type: 'tellApart', params: { reason: TOO_LONG } }],
        },
      },
      on: { 'count.failed': {}, 'limits.stop': 'stopped' },
    },
    shared: {
      description: 'Requests are counted in the shared counter.',
      tags: 'counts-together',
      after: { checkMs: 'checking' },
      on: {
        'count.failed': {
          target: 'apart',
          actions: [
            'countFall',
            { type: 'tellApart', params: ({ event }) => ({ reason: event.reason }) },
          ],
        },
        'limits.stop': 'stopped',
      },
    },
    checking: {
      description: 'The same, while a look asks whether the counter still answers.',
      tags: 'counts-together',
      invoke: {
        id: 'look',
        src: 'look',
        onDone: 'shared',
        onError: {
          target: 'apart',
          actions: [
            'countFall',
            { type: 'tellApart', params: ({ event }) => ({ reason: String(event.error) }) },
          ],
        },
      },
      after: {
        timeoutMs: {
          target: 'apart',
          actions: ['countFall', { type: 'tellApart', params: { reason: TOO_LONG } }],
        },
      },
      on: {
        'count.failed': {
          target: 'apart',
          actions: [
            'countFall',
            { type: 'tellApart', params: ({ event }) => ({ reason: event.reason }) },
          ],
        },
        'limits.stop': 'stopped',
      },
    },
    apart: {
      description: 'The counter failed; this Console counts by itself.',
      after: { retryMs: 'looking' },
      on: { 'count.failed': {}, 'limits.stop': 'stopped' },
    },
    looking: {
      description: 'The same, while a look asks whether the counter is back.',
      invoke: {
        id: 'look',
        src: 'look',
        onDone: [
          { guard: 'isSteady', target: 'shared', actions: ['forgetGood', 'tellShared'] },
          { target: 'apart', actions: 'countGood' },
        ],
        onError: { target: 'apart', actions: 'forgetGood' },
      },
      after: { timeoutMs: { target: 'apart', actions: 'forgetGood' } },
      on: { 'count.failed': {}, 'limits.stop': 'stopped' },
    },
    stopped: { type: 'final', description: 'Nothing more is asked.' },
  },
});

export type RateLimitsActorRef = ActorRefFrom<typeof rateLimitsMachine>;
export type RateLimitsSnapshot = SnapshotFrom<typeof rateLimitsMachine>;
