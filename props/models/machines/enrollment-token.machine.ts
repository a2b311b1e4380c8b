// The life of an enrollment or re-enrollment token. It makes at most one identity. invariant: I2, I8; decision: D12
//   usable    unused and inside its lifetime; the first key that presents it consumes it
//   consumed  one identity was made; within the lifetime the same key gets the same answer again, another key nothing
//   expired   its lifetime ended unused; final
//   revoked   an operator withdrew it unused; final
import { type ActorRefFrom, assign, emit, type SnapshotFrom, setup } from 'xstate';
import {
  presentToken,
  type TokenRefusal,
} from '../../../machines/console/trust/enrollment-token.rules.ts';

export type TokenContext = {
  readonly tokenId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly consumedKeyDigest: string | null;
};
export type TokenEvent =
  | { type: 'token.presented'; atMs: number; keyDigest: string }
  | { type: 'token.revoked'; atMs: number };
export type TokenInput = {
  readonly tokenId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
};
export type TokenEmitted =
  | { type: 'identity.granted'; keyDigest: string }
  | { type: 'identity.repeated'; keyDigest: string }
  | { type: 'token.refused'; code: TokenRefusal };

type Presented = { readonly keyDigest: string; readonly atMs: number };

export const enrollmentTokenMachine = setup({
  types: {
    context: {} as TokenContext,
    events: {} as TokenEvent,
    input: {} as TokenInput,
    emitted: {} as TokenEmitted,
  },
  delays: {
    lifetimeMs: ({ context }) => Math.max(0, context.expiresAtMs - context.createdAtMs),
  },
  guards: {
    isGranted: ({ context }, params: Presented) => answerTo(context, params) === 'grant',
    isRepeated: ({ context }, params: Presented) => answerTo(context, params) === 'repeat',
  },
  actions: {
    rememberKey: assign({ consumedKeyDigest: (_, params: Presented) => params.keyDigest }),
    tellGranted: emit((_, params: Presented) => ({
      type: 'identity.granted' as const,
      keyDigest: params.keyDigest,
    })),
    tellRepeated: emit((_, params: Presented) => ({
      type: 'identity.repeated' as const,
      keyDigest: params.keyDigest,
    })),
    tellRefused: emit(({ context }, params: Presented) => ({
      type: 'token.refused' as const,
      code: refusalTo(context, params),
    })),
  },
}).createMachine({
  id: 'enrollment-token',
  context: ({ input }) => ({ ...input, consumedKeyDigest: null }),
  initial: 'usable',
  states: {
    usable: {
      description: 'Unused and inside its lifetime.',
      after: { lifetimeMs: 'expired' },
      on: {
        'token.presented': [
          {
            guard: { type: 'isGranted', params: ({ event }) => presentedBy(event) },
            target: 'consumed',
            actions: [
              { type: 'rememberKey', params: ({ event }) => presentedBy(event) },
              { type: 'tellGranted', params: ({ event }) => presentedBy(event) },
            ],
          },
          { actions: { type: 'tellRefused', params: ({ event }) => presentedBy(event) } },
        ],
        'token.revoked': 'revoked',
      },
    },
    consumed: {
      description: 'One identity was made; only the same key is answered, and the same way.',
      on: {
        'token.presented': [
          {
            guard: { type: 'isRepeated', params: ({ event }) => presentedBy(event) },
            actions: { type: 'tellRepeated', params: ({ event }) => presentedBy(event) },
          },
          { actions: { type: 'tellRefused', params: ({ event }) => presentedBy(event) } },
        ],
      },
    },
    expired: { type: 'final', description: 'Its lifetime ended unused.' },
    revoked: { type: 'final', description: 'An operator withdrew it unused.' },
  },
});
export type EnrollmentTokenActorRef = ActorRefFrom<typeof enrollmentTokenMachine>;
export type EnrollmentTokenSnapshot = SnapshotFrom<typeof enrollmentTokenMachine>;

function presentedBy(event: Presented): Presented {
  return { keyDigest: event.keyDigest, atMs: event.atMs };
}

function answerTo(context: TokenContext, { keyDigest, atMs }: Presented) {
  return presentToken({ ...context, revokedAtMs: null }, { keyDigest, nowMs: atMs });
}

function refusalTo(context: TokenContext, presented: Presented): TokenRefusal {
  const answer = answerTo(context, presented);
  return answer === 'grant' || answer === 'repeat' ? 'token_invalid' : answer;
}
