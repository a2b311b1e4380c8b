// One login through an identity provider. Its first part lies in the database while the browser is away, so the actor is
// built when the browser comes back, on whichever Console that is. decision: D40; invariant: I18
//   started    the browser was sent to the provider
//   returned   the browser that began came back in time; its code is exchanged for the provider's statement
//   exchanged  the statement is genuine and names a person; their accounts are looked up
//   judged     the rules let the person in; account, role and session are written
//   logged_in  a session began; final
//   refused    nothing began, with the code that says why; final
import { type ActorRefFrom, assign, type SnapshotFrom, setup } from 'xstate';
import type { ErrorCode } from '../../errors.ts';
import { SSO_ACCOUNT_TIMEOUT_MS, SSO_EXCHANGE_TIMEOUT_MS } from '../../limits.ts';
import { unprovidedActor } from '../../unprovided.ts';
import {
  judgePerson,
  type KnownAccounts,
  type SsoPerson,
  type SsoPolicy,
  type SsoVerdict,
} from './sso-login.rules.ts';

/** How often accounts are looked up again because they changed between the look and the writing. */
export const SSO_LOOKS_MAX = 3;

type Refused = { readonly ok: false; readonly code: ErrorCode; readonly reason: string };
export type SsoExchanged = { readonly ok: true; readonly person: SsoPerson } | Refused;
export type SsoFound = { readonly ok: true; readonly known: KnownAccounts } | Refused;
export type SsoAdmissible = Exclude<SsoVerdict, { readonly do: 'refuse' }>;
export type SsoAdmitted =
  | { readonly ok: true; readonly userId: string }
  /** Somebody changed the accounts meanwhile. */
  | { readonly ok: 'changed' }
  | Refused;

export type SsoLoginContext = {
  readonly policy: SsoPolicy;
  readonly expiresAtMs: number;
  readonly person: SsoPerson | null;
  readonly verdict: SsoAdmissible | null;
  readonly looks: number;
  readonly userId: string | null;
  readonly refusal: { readonly code: ErrorCode; readonly reason: string } | null;
};
export type SsoLoginEvent = {
  readonly type: 'login.returned';
  readonly atMs: number;
  /** The browser holds the value it was given when it began. */
  readonly isSameBrowser: boolean;
  /** The provider said that there will be no login. */
  readonly isDenied: boolean;
};
export type SsoLoginInput = { readonly policy: SsoPolicy; readonly expiresAtMs: number };

type Judged = { readonly person: SsoPerson | null; readonly found: SsoFound };

export const ssoLoginMachine = setup({
  types: {
    context: {} as SsoLoginContext,
    events: {} as SsoLoginEvent,
    input: {} as SsoLoginInput,
  },
  actors: {
    exchangeCode: unprovidedActor<SsoExchanged>('exchangeCode'),
    findAccounts: unprovidedActor<SsoFound, { readonly person: SsoPerson | null }>('findAccounts'),
    admitPerson: unprovidedActor<
      SsoAdmitted,
      { readonly person: SsoPerson | null; readonly verdict: SsoAdmissible | null }
    >('admitPerson'),
  },
  delays: { exchangeTimeoutMs: SSO_EXCHANGE_TIMEOUT_MS, accountTimeoutMs: SSO_ACCOUNT_TIMEOUT_MS },
  guards: {
    isOtherBrowser: (_, params: SsoLoginEvent) => !params.isSameBrowser,
    isTooLate: ({ context }, params: SsoLoginEvent) => params.atMs >= context.expiresAtMs,
    isDenied: (_, params: SsoLoginEvent) => params.isDenied,
    isOk: (_, params: { readonly output: { readonly ok: boolean | 'changed' } }) =>
      params.output.ok === true,
    mayLookAgain: ({ context }, params: { readonly output: SsoAdmitted }) =>
      params.output.ok === 'changed' && context.looks < SSO_LOOKS_MAX,
    isAdmissible: ({ context }, { person, found }: Judged) =>
      verdictOf(context, person, found).do !== 'refuse',
  },
  actions: {
    rememberPerson: assign({
      person: (_, params: { readonly output: SsoExchanged }) =>
        params.output.ok ? params.output.person : null,
    }),
    countLook: assign({ looks: ({ context }) => context.looks + 1 }),
    judge: assign({
      verdict: ({ context }, { person, found }: Judged) => {
        const verdict = verdictOf(context, person, found);
        return verdict.do === 'refuse' ? null : verdict;
      },
    }),
    rememberUser: assign({
      userId: (_, params: { readonly output: SsoAdmitted }) =>
        params.output.ok === true ? params.output.userId : null,
    }),
    refuse: assign({
      refusal: (_, params: { readonly code: ErrorCode; readonly reason: string }) => params,
    }),
  },
}).createMachine({
  id: 'sso-login',
  context: ({ input }) => ({
    policy: input.policy,
    expiresAtMs: input.expiresAtMs,
    person: null,
    verdict: null,
    looks: 0,
    userId: null,
    refusal: null,
  }),
  initial: 'started',
  states: {
    started: {
      description: 'The browser was sent to the provider.',
      on: {
        'login.returned': [
          {
            guard: { type: 'isOtherBrowser', params: ({ event }) => event },
            target: 'refused',
            actions: refusal('sso_login_refused', 'another browser began it'),
          },
          {
            guard: { type: 'isTooLate', params: ({ event }) => event },
            target: 'refused',
            actions: refusal('sso_login_refused', 'it took too long'),
          },
          {
            guard: { type: 'isDenied', params: ({ event }) => event },
            target: 'refused',
            actions: refusal('sso_answer_refused', 'the provider refused the login'),
          },
          { target: 'returned' },
        ],
      },
    },
    returned: {
      description: 'The code is exchanged for the statement of the provider.',
      after: {
        exchangeTimeoutMs: {
          target: 'refused',
          actions: refusal('sso_provider_unavailable', 'it did not answer in time'),
        },
      },
      invoke: {
        src: 'exchangeCode',
        onDone: [
          {
            guard: { type: 'isOk', params: ({ event }) => ({ output: event.output }) },
            target: 'exchanged',
            actions: {
              type: 'rememberPerson',
              params: ({ event }) => ({ output: event.output }),
            },
          },
          {
            target: 'refused',
            actions: { type: 'refuse', params: ({ event }) => refusalIn(event.output) },
          },
        ],
        onError: { target: 'refused', actions: refusal('internal', 'the exchange failed') },
      },
    },
    exchanged: {
      description: 'The accounts of the person are looked up.',
      entry: 'countLook',
      after: {
        accountTimeoutMs: {
          target: 'refused',
          actions: refusal('store_unavailable', 'the accounts could not be read in time'),
        },
      },
      invoke: {
        src: 'findAccounts',
        input: ({ context }) => ({ person: context.person }),
        onDone: [
          {
            guard: {
              type: 'isAdmissible',
              params: ({ context, event }) => ({ person: context.person, found: event.output }),
            },
            target: 'judged',
            actions: {
              type: 'judge',
              params: ({ context, event }) => ({ person: context.person, found: event.output }),
            },
          },
          {
            target: 'refused',
            actions: {
              type: 'refuse',
              params: ({ context, event }) =>
                refusalIn(
                  event.output.ok ? verdictOf(context, context.person, event.output) : event.output,
                ),
            },
          },
        ],
        onError: { target: 'refused', actions: refusal('internal', 'the look-up failed') },
      },
    },
    judged: {
      description: 'The person is let in; account, role and session are written.',
      after: {
        accountTimeoutMs: {
          target: 'refused',
          actions: refusal('store_unavailable', 'the session could not be written in time'),
        },
      },
      invoke: {
        src: 'admitPerson',
        input: ({ context }) => ({ person: context.person, verdict: context.verdict }),
        onDone: [
          {
            guard: { type: 'isOk', params: ({ event }) => ({ output: event.output }) },
            target: 'logged_in',
            actions: { type: 'rememberUser', params: ({ event }) => ({ output: event.output }) },
          },
          {
            guard: { type: 'mayLookAgain', params: ({ event }) => ({ output: event.output }) },
            target: 'exchanged',
          },
          {
            target: 'refused',
            actions: { type: 'refuse', params: ({ event }) => refusalIn(event.output) },
          },
        ],
        onError: { target: 'refused', actions: refusal('internal', 'the writing failed') },
      },
    },
    logged_in: { type: 'final', description: 'A session began.' },
    refused: { type: 'final', description: 'Nothing began.' },
  },
});
export type SsoLoginActorRef = ActorRefFrom<typeof ssoLoginMachine>;
export type SsoLoginSnapshot = SnapshotFrom<typeof ssoLoginMachine>;

function refusal(code: ErrorCode, reason: string) {
  return { type: 'refuse' as const, params: { code, reason } };
}

function refusalIn(output: object): { readonly code: ErrorCode; readonly reason: string } {
  if ('code' in output && 'reason' in output) {
    return { code: output.code as ErrorCode, reason: String(output.reason) };
  }
  return { code: 'sso_account_refused', reason: 'the account changes too often' };
}

function verdictOf(
  context: Pick<SsoLoginContext, 'policy'>,
  person: SsoPerson | null,
  found: SsoFound,
): SsoVerdict {
  if (person === null || !found.ok) {
    return { do: 'refuse', code: 'sso_account_refused', reason: 'nobody is known' };
  }
  return judgePerson(person, context.policy, found.known);
}
