// One login of a person, from its password to its end; its secret changes with every step up in trust. The Console keeps
// no actor of it: the rules are asked on every request, and this is what they add up to. decision: D37; invariant: I18
//   alive.partial  the password was right and the second factor is still to come; ends soon by itself
//   alive.full     everything the person's role allows
//   idle_expired   nobody used it for the idle time; final
//   expired        its lifetime is over, however busy it was; final
//   ended          logged out, ended by its owner or an admin, or by a new password or a new role; final
import { type ActorRefFrom, assign, emit, type SnapshotFrom, setup } from 'xstate';
import { sessionEndOf } from '../../../machines/console/access/session.rules.ts';

export type SessionContext = {
  readonly stage: 'partial' | 'full';
  readonly idleMs: number;
  readonly lifetimeMs: number;
  readonly lastSeenAtMs: number;
  readonly expiresAtMs: number;
  /** How many secrets it has had; all but the last are dead. */
  readonly secrets: number;
};
export type SessionEvent =
  | { type: 'session.used'; atMs: number }
  | { type: 'factor.shown'; atMs: number }
  | { type: 'password.changed'; atMs: number }
  | { type: 'session.ended' };
export type SessionInput = {
  readonly stage: 'partial' | 'full';
  readonly atMs: number;
  readonly idleMs: number;
  readonly lifetimeMs: number;
};
export type SessionEmitted = { type: 'secret.changed'; secrets: number };

type At = { readonly atMs: number };
const at = ({ event }: { readonly event: At }): At => ({ atMs: event.atMs });
const RENEW = [{ type: 'beginAnew', params: at }, 'tellSecret'] as const;

export const sessionMachine = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
    input: {} as SessionInput,
    emitted: {} as SessionEmitted,
  },
  delays: {
    idleMs: ({ context }) => context.idleMs,
    remainingMs: ({ context }) => Math.max(0, context.expiresAtMs - context.lastSeenAtMs),
  },
  guards: {
    isPartial: ({ context }) => context.stage === 'partial',
    isOver: ({ context }, { atMs }: At) => atMs >= context.expiresAtMs,
    isIdle: ({ context }, { atMs }: At) => atMs - context.lastSeenAtMs >= context.idleMs,
  },
  actions: {
    noteUse: assign({
      lastSeenAtMs: ({ context }, { atMs }: At) => Math.max(context.lastSeenAtMs, atMs),
    }),
    beginAnew: assign(({ context }, { atMs }: At) => ({
      stage: 'full' as const,
      lastSeenAtMs: atMs,
      expiresAtMs: sessionEndOf('full', { nowMs: atMs, lifetimeMs: context.lifetimeMs }),
      secrets: context.secrets + 1,
    })),
    tellSecret: emit(({ context }) => ({
      type: 'secret.changed' as const,
      secrets: context.secrets,
    })),
  },
}).createMachine({
  id: 'session',
  context: ({ input: { stage, atMs, idleMs, lifetimeMs } }) => ({
    ...{ stage, idleMs, lifetimeMs, lastSeenAtMs: atMs, secrets: 1 },
    expiresAtMs: sessionEndOf(stage, { nowMs: atMs, lifetimeMs }),
  }),
  initial: 'alive',
  states: {
    alive: {
      description: 'It is good for something; every use begins the wait for disuse anew.',
      initial: 'begun',
      after: { idleMs: 'idle_expired', remainingMs: 'expired' },
      on: {
        'session.used': [
          { guard: { type: 'isOver', params: at }, target: 'expired' },
          { guard: { type: 'isIdle', params: at }, target: 'idle_expired' },
          { target: 'alive', reenter: true, actions: { type: 'noteUse', params: at } },
        ],
        'session.ended': 'ended',
      },
      states: {
        begun: {
          description: 'Decides at once where it stands.',
          always: [{ guard: 'isPartial', target: 'partial' }, { target: 'full' }],
        },
        partial: {
          description: 'The second factor is still to come.',
          on: { 'factor.shown': { target: '#session.alive', reenter: true, actions: RENEW } },
        },
        full: {
          description: 'Everything the role allows.',
          on: { 'password.changed': { target: '#session.alive', reenter: true, actions: RENEW } },
        },
      },
    },
    idle_expired: { type: 'final', description: 'Nobody used it for the idle time.' },
    expired: { type: 'final', description: 'Its lifetime is over.' },
    ended: { type: 'final', description: 'Somebody ended it.' },
  },
});
export type SessionActorRef = ActorRefFrom<typeof sessionMachine>;
export type SessionSnapshot = SnapshotFrom<typeof sessionMachine>;
