// Runs one login through its machine to the end. Everything it waits for is bounded by the machine's own deadlines; what
// comes later is not heard any more. decision: D4, D40
import { createActor, fromPromise } from 'xstate';
import {
  type SsoAdmissible,
  type SsoAdmitted,
  type SsoExchanged,
  type SsoFound,
  type SsoLoginEvent,
  type SsoLoginInput,
  ssoLoginMachine,
} from '../../../machines/console/access/sso-login.machine.ts';
import type { SsoPerson } from '../../../machines/console/access/sso-login.rules.ts';
import type { ErrorCode } from '../../../machines/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { WheelClock } from '../../runtime/wheel-clock.ts';

/** What a login does outside its machine. */
export type SsoLoginEffects = {
  exchange(): Promise<SsoExchanged>;
  find(person: SsoPerson): Promise<SsoFound>;
  admit(person: SsoPerson, verdict: SsoAdmissible): Promise<SsoAdmitted>;
};
export type SsoLoginEnd =
  | { readonly ok: true; readonly userId: string; readonly person: SsoPerson | null }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly reason: string;
      readonly person: SsoPerson | null;
    };

/** Resolves when the login has ended, one way or the other; never rejects. */
export function runSsoLogin(
  deps: { readonly clock: WheelClock; readonly logger: Logger },
  input: SsoLoginInput,
  returned: Omit<SsoLoginEvent, 'type'>,
  effects: SsoLoginEffects,
): Promise<SsoLoginEnd> {
  const tellingFailure = async <T>(what: string, run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      deps.logger.error({ error: String(error) }, `a login failed: ${what}`);
      throw error;
    }
  };
  const machine = ssoLoginMachine.provide({
    actors: {
      exchangeCode: fromPromise(() => tellingFailure('the exchange', effects.exchange)),
      findAccounts: fromPromise<SsoFound, { readonly person: SsoPerson | null }>(
        ({ input: { person } }) =>
          tellingFailure('the accounts', async () => effects.find(present(person))),
      ),
      admitPerson: fromPromise<
        SsoAdmitted,
        { readonly person: SsoPerson | null; readonly verdict: SsoAdmissible | null }
      >(({ input: { person, verdict } }) =>
        tellingFailure('the session', async () => effects.admit(present(person), present(verdict))),
      ),
    },
  });
  return new Promise((resolve) => {
    const ref = createActor(machine, { input, clock: deps.clock as never });
    ref.subscribe({
      error(error) {
        deps.logger.error({ error: String(error) }, 'the actor of a login failed');
        resolve({ ok: false, code: 'internal', reason: 'the login failed', person: null });
      },
      complete() {
        const { userId, refusal, person } = ref.getSnapshot().context;
        if (userId !== null) resolve({ ok: true, userId, person });
        else {
          const { code, reason } = refusal ?? { code: 'internal' as const, reason: 'no reason' };
          resolve({ ok: false, code, reason, person });
        }
      },
    });
    ref.start();
    ref.send({ type: 'login.returned', ...returned });
  });
}

function present<T>(value: T | null): T {
  if (value === null) throw new Error('a login went on without what it needs');
  return value;
}
