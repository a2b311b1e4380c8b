// Logging in with a password. A try is counted before it is judged, under the account and under the site it comes from,
// so that many at one instant get no further than one after the other; who has no account, no password, a wrong one or a
// disabled account hears the same, at the same price. decision: D37; invariant: I18
import { emailKeyOf } from '../../machines/console/access/account.rules.ts';
import {
  accountTryKey,
  addressTryKey,
  knownSiteTryKey,
  waitOfLogin,
} from '../../machines/console/access/login.rules.ts';
import type { LoginNeed } from '../../machines/console/access/second-factor.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import {
  EMAIL_MAX_CHARS,
  LOGIN_KNOWN_SITE_MS,
  LOGIN_KNOWN_SITES_ROWS_MAX,
  LOGIN_WINDOW_MS,
} from '../../machines/limits.ts';
import type { LoginFailureStore } from '../../storage/ports/access/login-failures.ts';
import type { PasswordStore } from '../../storage/ports/access/user-passwords.ts';
import type { UserRow, UserStore } from '../../storage/ports/access/users.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import { evidenceOf, type LoginEvidence } from './login-evidence.ts';
import { judgedOf, type NeedOf } from './login-need.ts';
import type { Passwords } from './passwords.ts';
import type { IssuedSession, SessionService } from './sessions.ts';

/** Looked up for an account that is not there. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

export type LoginInput = {
  readonly email: string;
  readonly password: string;
  readonly address: string;
  readonly userAgent: string;
  /** The session that the browser held before; it ends, since nobody can use it any more. */
  readonly replaces?: Buffer | null;
};
export type LoggedIn = IssuedSession & {
  readonly ok: true;
  readonly user: UserRow;
  /** What the session still lacks; null when it is full. */
  readonly need: LoginNeed | null;
  /** What happened since the login before; null while the login is not done. */
  readonly evidence: LoginEvidence | null;
};

/** Rejects with StoreUnavailable. */
export type LoginService = {
  login(input: LoginInput): Promise<LoggedIn | Refusal>;
  /** Whether a password is the account's, counted like a login: for whoever says it again in a session. */
  confirm(
    user: Pick<UserRow, 'userId' | 'email' | 'passwordHash'>,
    given: Pick<LoginInput, 'password' | 'address'>,
  ): Promise<{ readonly ok: true } | Refusal>;
};

export type LoginDeps = {
  readonly users: Pick<UserStore, 'findByEmail' | 'noteLogin'>;
  readonly userPasswords: Pick<PasswordStore, 'rehash'>;
  readonly loginFailures: Pick<LoginFailureStore, 'takeTry' | 'returnTry' | 'forgetFailures'>;
  readonly sessions: Pick<SessionService, 'begin' | 'end'>;
  readonly passwords: Passwords;
  readonly audit: Pick<AuditLog, 'append' | 'search'>;
  /** What a login of this person by password still lacks. */
  readonly needOf: NeedOf;
  /** What counts as one site: an address, or the network it owns. */
  readonly siteOf: (address: string) => string;
  readonly now: () => number;
};

/** Makes the service. */
export function createLoginService(deps: LoginDeps): LoginService {
  return {
    async login(input) {
      const answer = await judged(deps, input);
      if (!answer.ok) await auditRefused(deps, input, answer);
      return answer;
    },
    async confirm(user, { password, address }) {
      const tried = await tryPassword(deps, { ...user, password, address });
      const answer = tried.ok && !tried.isRight ? refused() : tried;
      if (!answer.ok) await auditUnconfirmed(deps, { ...user, address }, answer);
      return answer;
    },
  };
}

async function judged(deps: LoginDeps, input: LoginInput): Promise<LoggedIn | Refusal> {
  const user = await deps.users.findByEmail(input.email);
  const passwordHash = user?.status === 'active' ? user.passwordHash : null;
  const tried = await tryPassword(deps, {
    ...input,
    passwordHash,
    userId: user?.userId ?? NOBODY,
  });
  if (!tried.ok) return tried;
  if (!tried.isRight || user === null || passwordHash === null) return refused();
  const better = await deps.passwords.better(passwordHash, input.password);
  const { userId } = user;
  if (better !== null) {
    await deps.userPasswords.rehash({ userId, replaces: passwordHash, passwordHash: better });
  }
  const need = deps.needOf(user, { method: 'password', stage: 'partial' });
  const { address, userAgent } = input;
  const begun = await deps.sessions.begin({
    ...{ userId, address, userAgent, method: 'password' },
    stage: need === null ? 'full' : 'partial',
    // A second factor or a role that came meanwhile was not asked for here.
    judged: { ...judgedOf(user), passwordHash: better ?? passwordHash },
  });
  if (begun === null) return refused();
  const { replaces = null } = input;
  if (replaces !== null) {
    await deps.sessions.end({ actor: `user:${user.email}`, from: address, hash: replaces });
  }
  const evidence = need === null ? await evidenceOf(deps.audit, user) : null;
  await noteLogin(deps, input, { user, need, session: begun.session });
  return { ok: true, ...begun, user, need, evidence };
}

/** Takes a try, judges the password, and gives the try back when it was right or could not be judged. */
async function tryPassword(
  deps: LoginDeps,
  given: Pick<LoginInput, 'email' | 'password' | 'address'> &
    Pick<UserRow, 'userId' | 'passwordHash'>,
): Promise<{ readonly ok: true; readonly isRight: boolean } | Refusal> {
  const { loginFailures, passwords } = deps;
  const nowMs = deps.now();
  const from = deps.siteOf(given.address);
  const account = (await isKnownSite(deps, given.userId, from))
    ? knownSiteTryKey(given.email, from)
    : accountTryKey(given.email);
  const site = addressTryKey(from);
  const wait = await loginFailures.takeTry({
    ...{ keys: [account, site], nowMs, windowMs: LOGIN_WINDOW_MS },
    waitMs: (counted) => waitOfLogin(counted, nowMs),
  });
  if (wait > 0) {
    const detail = 'After this many failures the next login must wait.';
    return refuse('login_throttled', detail, { retryAfterMs: wait });
  }
  const isRight = await passwords.isRight(given.passwordHash, given.password);
  if (typeof isRight !== 'boolean') {
    await loginFailures.returnTry([account, site]);
    return isRight;
  }
  if (isRight) {
    await loginFailures.forgetFailures([account]);
    await loginFailures.returnTry([site]);
  }
  return { ok: true, isRight };
}

/** Whether an account was logged into from this site lately. The same question for nobody, at the same price. */
async function isKnownSite(
  { audit, siteOf, now }: LoginDeps,
  target: string,
  site: string,
): Promise<boolean> {
  const rows = await audit.search({
    ...{ order: 'newest', after: null, limit: LOGIN_KNOWN_SITES_ROWS_MAX },
    ...{ action: 'user.login', target, result: 'ok', fromMs: now() - LOGIN_KNOWN_SITE_MS },
  });
  return rows.some(({ from }) => from !== null && siteOf(from) === site);
}

// A login that waits for its second factor is no login yet: whoever shows the factor notes it.
async function noteLogin(
  deps: LoginDeps,
  { address: from }: LoginInput,
  { user, need, session }: Pick<LoggedIn, 'user' | 'need' | 'session'>,
): Promise<void> {
  const nowMs = deps.now();
  const { userId, email } = user;
  const actor = `user:${email}`;
  if (need === null) {
    const { sessionId } = session;
    return deps.users.noteLogin({
      ...{ actor, from, nowMs, userId, method: 'password', session: sessionId },
    });
  }
  return deps.audit.append([
    {
      ...{ atMs: nowMs, actor, action: 'user.login', target: userId, from },
      ...{ result: need === 'password_change' ? 'password_change_needed' : 'second_factor_needed' },
      ...{ detail: { email, method: 'password' } },
    },
  ]);
}

async function auditRefused(
  deps: LoginDeps,
  { email, address: from, userAgent }: LoginInput,
  { code }: Refusal,
): Promise<void> {
  const tried = emailKeyOf(email).slice(0, EMAIL_MAX_CHARS);
  await deps.audit.append([
    {
      ...{ atMs: deps.now(), actor: 'anonymous', action: 'user.login', target: tried, from },
      ...{ result: code, detail: { method: 'password', user_agent: userAgent } },
    },
  ]);
}

/** Whoever guesses in a session that was left open leaves a trace for its person, too. */
async function auditUnconfirmed(
  deps: LoginDeps,
  {
    userId,
    email,
    address: from,
  }: Pick<UserRow, 'userId' | 'email'> & { readonly address: string },
  { code }: Refusal,
): Promise<void> {
  await deps.audit.append([
    {
      ...{ atMs: deps.now(), actor: `user:${email}`, action: 'user.reauthenticate', from },
      ...{ target: userId, result: code, detail: { email, method: 'password' } },
    },
  ]);
}

function refused(): Refusal {
  return refuse('credentials_refused', 'The e-mail address or the password is wrong.');
}
