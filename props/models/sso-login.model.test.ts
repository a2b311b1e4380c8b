// A login through a provider beside a few words: it ends once, in a session only when all three answers were good, and
// looks for accounts at most three times. decision: D40
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { SSO_LOOKS_MAX, ssoLoginMachine } from '../../machines/console/access/sso-login.machine.ts';
import { SSO_ACCOUNT_TIMEOUT_MS, SSO_EXCHANGE_TIMEOUT_MS } from '../../machines/limits.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move } from './driver.ts';

const START_MS = 1_000;
const LIFETIME_MS = 600_000;
type Model = {
  at: 'started' | 'returned' | 'exchanged' | 'judged' | 'logged_in' | 'refused';
  code: string | null;
  looks: number;
  sinceMs: number;
};
type Real = Driven<typeof ssoLoginMachine>;

const PERSON = {
  subject: 's',
  email: 'ann@example.org',
  isEmailVerified: true,
  name: null,
  groups: ['ops'],
  hasMoreGroups: false,
};
const NOBODY = { linked: null, made: null, sameEmail: null };
const TAKEN = { ...NOBODY, sameEmail: { userId: 'other', isActive: true } };
const POLICY = {
  groupRoles: { ops: 'operator' as const },
  defaultRole: null,
  createsUsers: true,
  domains: [],
  linkDomains: [],
};
const AWAY = { ok: false, code: 'store_unavailable', reason: 'away' };

function refused(model: Model, code: string): void {
  model.at = 'refused';
  model.code = code;
}
function go(model: Model, at: Model['at'], nowMs: number): void {
  model.at = at;
  model.sinceMs = nowMs;
  if (at === 'exchanged') model.looks += 1;
}

const comeBack = fc
  .record({ isSameBrowser: fc.boolean(), isDenied: fc.boolean(), isLate: fc.boolean() })
  .chain((said) => fc.constantFrom(said, { isSameBrowser: true, isDenied: false, isLate: false }))
  .map(
    (said): Move<Model, Real> => ({
      name: `comeBack(${JSON.stringify(said)})`,
      run(model, real) {
        const { isLate, isSameBrowser, isDenied } = said;
        const atMs = isLate ? START_MS + LIFETIME_MS : START_MS;
        real.send({ type: 'login.returned', atMs, isSameBrowser, isDenied } as never);
        if (model.at !== 'started') return;
        if (!isSameBrowser || isLate) refused(model, 'sso_login_refused');
        else if (isDenied) refused(model, 'sso_answer_refused');
        else go(model, 'returned', real.nowMs());
      },
    }),
  );
const exchanged = move<Model, Real>('exchanged', (model, real) => {
  real.done('exchangeCode', { ok: true, person: PERSON });
  if (model.at === 'returned') go(model, 'exchanged', real.nowMs());
});
const notExchanged = fc.constantFrom('sso_answer_refused', 'sso_provider_unavailable').map(
  (code): Move<Model, Real> => ({
    name: `notExchanged(${code})`,
    run(model, real) {
      real.done('exchangeCode', { ok: false, code, reason: 'because' });
      if (model.at === 'returned') refused(model, code);
    },
  }),
);
const found = fc.constantFrom('nobody', 'taken', 'away').map(
  (what): Move<Model, Real> => ({
    name: `found(${what})`,
    run(model, real) {
      const known = what === 'nobody' ? NOBODY : TAKEN;
      real.done('findAccounts', what === 'away' ? AWAY : { ok: true, known });
      if (model.at !== 'exchanged') return;
      if (what === 'away') refused(model, 'store_unavailable');
      else if (what === 'taken') refused(model, 'sso_account_refused');
      else go(model, 'judged', real.nowMs());
    },
  }),
);
const admitted = fc.constantFrom('ok', 'changed', 'changed', 'away').map(
  (what): Move<Model, Real> => ({
    name: `admitted(${what})`,
    run(model, real) {
      const ok = what === 'ok' ? { ok: true, userId: 'user' } : { ok: 'changed' };
      real.done('admitPerson', what === 'away' ? AWAY : ok);
      if (model.at !== 'judged') return;
      if (what === 'ok') model.at = 'logged_in';
      else if (what === 'away') refused(model, 'store_unavailable');
      else if (model.looks < SSO_LOOKS_MAX) go(model, 'exchanged', real.nowMs());
      else refused(model, 'sso_account_refused');
    },
  }),
);
const fail = fc.constantFrom('exchangeCode', 'findAccounts', 'admitPerson').map(
  (src): Move<Model, Real> => ({
    name: `fail(${src})`,
    run(model, real) {
      const at = { exchangeCode: 'returned', findAccounts: 'exchanged', admitPerson: 'judged' };
      real.fail(src);
      if (model.at === at[src as keyof typeof at]) refused(model, 'internal');
    },
  }),
);
const wait = fc.constantFrom(1, 4_000, SSO_EXCHANGE_TIMEOUT_MS, SSO_ACCOUNT_TIMEOUT_MS).map(
  (ms): Move<Model, Real> => ({
    name: `wait(${ms})`,
    run(model, real) {
      real.advance(ms);
      const waitedMs = real.nowMs() - model.sinceMs;
      if (model.at === 'returned' && waitedMs >= SSO_EXCHANGE_TIMEOUT_MS) {
        refused(model, 'sso_provider_unavailable');
      } else if (['exchanged', 'judged'].includes(model.at) && waitedMs >= SSO_ACCOUNT_TIMEOUT_MS) {
        refused(model, 'store_unavailable');
      }
    },
  }),
);

// What the ordinary login does next. Without it hardly any run would come as far as a session.
const goOn = move<Model, Real>('goOn', (model, real) => {
  if (model.at === 'started') {
    const said = { isSameBrowser: true, isDenied: false };
    real.send({ type: 'login.returned', atMs: START_MS, ...said } as never);
    go(model, 'returned', real.nowMs());
  } else if (model.at === 'returned') {
    real.done('exchangeCode', { ok: true, person: PERSON });
    go(model, 'exchanged', real.nowMs());
  } else if (model.at === 'exchanged') {
    real.done('findAccounts', { ok: true, known: NOBODY });
    go(model, 'judged', real.nowMs());
  } else if (model.at === 'judged') {
    real.done('admitPerson', { ok: true, userId: 'user' });
    model.at = 'logged_in';
  }
});

describe('login through a provider', () => {
  itsMachineAgrees(ssoLoginMachine, {
    input: fc.constant(null),
    begin: () => ({
      model: { at: 'started', code: null, looks: 0, sinceMs: START_MS } as Model,
      real: drive(
        ssoLoginMachine,
        { policy: POLICY, expiresAtMs: START_MS + LIFETIME_MS },
        START_MS,
      ),
    }),
    moves: [goOn, goOn, goOn, comeBack, exchanged, notExchanged, found, admitted, fail, wait],
    agree(model, real) {
      const { value, context, status } = real.snapshot();
      expect(value).toBe(model.at);
      expect(context.refusal?.code ?? null).toBe(model.code);
      expect(context.looks).toBe(model.looks);
      expect(context.userId).toBe(model.at === 'logged_in' ? 'user' : null);
      expect(status === 'done').toBe(model.at === 'logged_in' || model.at === 'refused');
    },
  });
});
