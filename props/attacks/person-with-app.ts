// A person whose app shows codes: the second factor of attackers and of the attacked. Sessions are handed over by hand,
// because attacks hold several of one account at once.
import { Secret, TOTP } from 'otpauth';
import type { Role } from '../../machines/trust/roles.rules.ts';
import type { ConsoleUnderTest } from './console.fixture.ts';
import type { Answer } from './peer.ts';
import { addPerson, createBrowser, PASSWORD, setCookieOf } from './person.ts';

export type PersonWithApp = Awaited<ReturnType<typeof createPersonWithApp>>;

/** Makes an account with a password and no second factor yet. */
export async function createPersonWithApp(
  console: Pick<ConsoleUnderTest, 'stores' | 'time' | 'ask'>,
  role: Role,
) {
  const { userId, email } = await addPerson(console, role);

  /** Asks with one session; absent = none. */
  function call(session: string | null, path: string, body?: unknown, method?: string) {
    const browser = createBrowser(console);
    browser.plant(session);
    return browser.ask(method ?? (body === undefined ? 'GET' : 'POST'), path, body);
  }
  return {
    userId,
    email,
    password: PASSWORD,
    call,
    /** Shows the password; the session it gives, and what that still lacks. */
    async login(): Promise<{ readonly session: string; readonly needs: unknown }> {
      const answer = await call(null, '/auth/login', { email, password: PASSWORD });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
      return { session: sessionIn(answer), needs: answer.body['needs'] };
    },
    /** Sets up a second factor in a session; the secret, the recovery codes, and the session that goes on. */
    async enroll(session: string) {
      const begun = await call(session, '/auth/mfa/enroll', { password: PASSWORD });
      const secret = String(begun.body['secret']);
      const code = codeOfApp(secret, console.time.now());
      const on = await call(session, '/auth/mfa/confirm', { code });
      if (on.status !== 200) throw new Error(JSON.stringify([begun.body, on.body]));
      const recoveryCodes = on.body['recovery_codes'] as readonly string[];
      return { secret, recoveryCodes, session: sessionIn(on) };
    },
  };
}

/** What an app with this secret shows at an instant. */
export function codeOfApp(secret: string, atMs: number): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: atMs });
}

/** The session an answer begins. */
export function sessionIn(answer: Answer): string {
  const set = setCookieOf(answer);
  if (set === null || set.value === '') throw new Error('the answer begins no session');
  return set.value;
}
