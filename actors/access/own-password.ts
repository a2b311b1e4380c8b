// How a person sets a password: a new one in place of one that is known, or by a link that an admin made. Either ends
// every other session. decision: D37; invariant: I2, I11, I18
import { accountTryKey } from '../../machines/console/access/login.rules.ts';
import type { LoginNeed } from '../../machines/console/access/second-factor.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { API_KEYS_ENDED_KEPT_MAX, API_KEYS_PER_USER_MAX } from '../../machines/limits.ts';
import { kindOfSecret } from '../../machines/trust/secret.rules.ts';
import type { ApiKeyRow, ApiKeys } from '../../storage/ports/access/api-keys.ts';
import type { LoginFailureStore } from '../../storage/ports/access/login-failures.ts';
import type { PasswordLinks } from '../../storage/ports/access/password-links.ts';
import type { SessionStage } from '../../storage/ports/access/sessions.ts';
import type { PasswordStore } from '../../storage/ports/access/user-passwords.ts';
import type { UserRow, UserStore } from '../../storage/ports/access/users.ts';
import type { AuditLog } from '../../storage/ports/audit/audit-log.ts';
import { StoreUnavailable } from '../../storage/ports/plumbing/store-unavailable.ts';
import { hashOfSecret } from '../trust/tokens.ts';
import type { LoginService } from './login.ts';
import { evidenceOf, type LoginEvidence } from './login-evidence.ts';
import type { NeedOf } from './login-need.ts';
import type { Passwords } from './passwords.ts';
import type { IssuedSession, SessionService } from './sessions.ts';

export type PasswordService = {
  /** Needs the password in force; the session goes on under a new secret, the others end. */
  change(input: {
    readonly userId: string;
    readonly session: { readonly hash: Buffer; readonly stage: SessionStage };
    readonly current: string;
    readonly next: string;
    readonly from: string;
  }): Promise<
    | ({
        readonly ok: true;
        /** What the session lacks yet; null when it is full now. */
        readonly need: LoginNeed | null;
        /** Of a login that this ended; else null. */
        readonly evidence: LoginEvidence | null;
      } & IssuedSession)
    | Refusal
  >;
  /** Uses a link once; every session of the person ends and none begins. */
  reset(input: {
    readonly secret: string;
    readonly password: string;
    /** Keys go on working; else they end with the sessions, since whoever had the password may have made them. */
    readonly keepsKeys?: boolean | undefined;
    readonly from: string;
  }): Promise<
    { readonly ok: true; readonly user: UserRow; readonly keys: readonly ApiKeyRow[] } | Refusal
  >;
};

export type PasswordServiceDeps = {
  readonly users: Pick<UserStore, 'get' | 'noteLogin'>;
  readonly userPasswords: Pick<PasswordStore, 'setPassword'>;
  readonly passwordLinks: Pick<PasswordLinks, 'findLink' | 'useLink'>;
  readonly loginFailures: Pick<LoginFailureStore, 'forgetFailures'>;
  readonly apiKeys: Pick<ApiKeys, 'list'>;
  readonly sessions: Pick<SessionService, 'nextOf' | 'find'>;
  readonly login: Pick<LoginService, 'confirm'>;
  readonly passwords: Pick<Passwords, 'accept'>;
  readonly audit: Pick<AuditLog, 'append' | 'search'>;
  readonly needOf: NeedOf;
  readonly now: () => number;
};

/** Makes the service. */
export function createPasswordService(deps: PasswordServiceDeps): PasswordService {
  const { users, userPasswords, passwordLinks, loginFailures, passwords } = deps;
  return {
    async change({ userId, session, current, next, from }) {
      const user = await users.get(userId);
      if (user === null) return sessionEnded();
      const confirmed = await deps.login.confirm(user, { password: current, address: from });
      if (!confirmed.ok) return confirmed;
      if (next === current) {
        const errors = [{ pointer: '/new_password', detail: 'must be another than before' }];
        return refuse('password_refused', 'The password must be another than before.', { errors });
      }
      const accepted = await passwords.accept(next, user.email, '/new_password');
      if (!accepted.ok) return accepted;
      const doing = { actor: `user:${user.email}`, from, nowMs: deps.now() };
      // A session that comes here has shown its second factor, where there is one.
      const changed = { ...user, mustChangePassword: false };
      const method = (await deps.sessions.find(session.hash))?.method;
      if (method === undefined) return sessionEnded();
      const need = deps.needOf(changed, { method, stage: 'full' });
      // Of two factors one was shown: what asks for a fresh login still does. decision: D63
      const { secret, turn } = deps.sessions.nextOf(
        session.hash,
        need === null ? 'full' : 'partial',
        user.mfa.state === 'on' ? 'part' : 'credentials',
      );
      const turned = await userPasswords.setPassword({
        ...{ ...doing, userId, replaces: user.passwordHash, passwordHash: accepted.hash, turn },
      });
      if (turned === null) return sessionEnded();
      // With a second factor the login was noted when that was shown; without, it is whole now.
      const isLogin = session.stage === 'partial' && need === null && user.mfa.state !== 'on';
      const evidence = isLogin ? await evidenceOf(deps.audit, user) : null;
      if (isLogin) {
        const of = { method: turned.method, session: turned.sessionId };
        await users.noteLogin({ ...doing, userId, ...of });
      }
      return { ok: true, secret, session: turned, need, evidence };
    },
    async reset({ secret, password, keepsKeys, from }) {
      const hash = hashOfSecret(secret);
      const isLink = kindOfSecret(secret) === 'resetLink';
      const owner = isLink ? await passwordLinks.findLink(hash, deps.now()) : null;
      if (owner === null) return linkEnded(deps, from);
      const accepted = await passwords.accept(password, owner.email);
      if (!accepted.ok) return accepted;
      const doing = { actor: `user:${owner.email}`, from, nowMs: deps.now() };
      const before = await keysOf(deps, owner.userId);
      const user = await passwordLinks.useLink({
        ...doing,
        hash,
        passwordHash: accepted.hash,
        keepsKeys,
      });
      if (user === null) return linkEnded(deps, from);
      await loginFailures.forgetFailures([accountTryKey(user.email)]);
      return { ok: true, user, keys: await keysThere(deps, owner.userId, before) };
    },
  };
}

function keysOf(
  { apiKeys }: Pick<PasswordServiceDeps, 'apiKeys'>,
  userId: string,
): Promise<readonly ApiKeyRow[]> {
  const limit = API_KEYS_PER_USER_MAX + API_KEYS_ENDED_KEPT_MAX;
  return apiKeys.list({ userId, limit, before: null });
}

/** The keys that could be used until the reset. Looked up after it, since no session is left that could make another. */
async function keysThere(
  deps: Pick<PasswordServiceDeps, 'apiKeys' | 'now'>,
  userId: string,
  before: readonly ApiKeyRow[],
): Promise<readonly ApiKeyRow[]> {
  const revoked = before.filter(({ revokedAtMs }) => revokedAtMs !== null);
  const ended = new Set(revoked.map(({ keyId }) => keyId));
  const after = await orElse(() => keysOf(deps, userId), before);
  const nowMs = deps.now();
  return after.filter(
    ({ keyId, expiresAtMs }) => !ended.has(keyId) && (expiresAtMs === null || expiresAtMs > nowMs),
  );
}

/** The link is used: that the store went away since is no reason to say that it failed. */
async function orElse<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StoreUnavailable) return otherwise;
    throw error;
  }
}

async function linkEnded(
  { audit, now }: Pick<PasswordServiceDeps, 'audit' | 'now'>,
  from: string,
): Promise<Refusal> {
  const refusal = refuse('reset_link_ended', 'The link is not known, was used, or is over.');
  await audit.append([
    {
      ...{ atMs: now(), actor: 'anonymous', action: 'user.reset', target: '', from },
      ...{ result: refusal.code, detail: {} },
    },
  ]);
  return refusal;
}

function sessionEnded(): Refusal {
  return refuse('credential_invalid', 'The session is not known or ended.');
}
