// How a person sets a password: a new one in place of one that is known, or by a link that an admin made. Either ends
// every other session. decision: D37; invariant: I2, I11, I18
import { accountTryKey } from '../../machines/console/access/login.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { kindOfSecret } from '../../machines/trust/secret.rules.ts';
import type { SessionStage } from '../../storage/ports/access/sessions.ts';
import type { UserRow, UserStore } from '../../storage/ports/access/users.ts';
import type { AuditLog } from '../../storage/ports/relational.ts';
import { hashOfSecret } from '../trust/tokens.ts';
import type { LoginDesk } from './login.ts';
import type { Passwords } from './passwords.ts';
import type { IssuedSession, SessionDesk } from './sessions.ts';

export type PasswordDesk = {
  /** Needs the password in force; the session goes on under a new secret, the others end. */
  change(input: {
    readonly userId: string;
    readonly session: { readonly hash: Buffer; readonly stage: SessionStage };
    readonly current: string;
    readonly next: string;
    readonly from: string;
  }): Promise<({ readonly ok: true } & IssuedSession) | Refusal>;
  /** Uses a link once; every session of the person ends and none begins. */
  reset(input: {
    readonly secret: string;
    readonly password: string;
    readonly from: string;
  }): Promise<{ readonly ok: true; readonly user: UserRow } | Refusal>;
};

export type PasswordDeskDeps = {
  readonly users: Pick<
    UserStore,
    'get' | 'setPassword' | 'findLink' | 'useLink' | 'forgetFailures'
  >;
  readonly sessions: Pick<SessionDesk, 'turn'>;
  readonly login: Pick<LoginDesk, 'confirm'>;
  readonly passwords: Pick<Passwords, 'accept'>;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly now: () => number;
};

/** Makes the desk. */
export function createPasswordDesk(deps: PasswordDeskDeps): PasswordDesk {
  const { users, passwords } = deps;
  return {
    async change({ userId, session, current, next, from }) {
      const user = await users.get(userId);
      if (user === null) return sessionEnded();
      const confirmed = await deps.login.confirm(user, { password: current, address: from });
      if (!confirmed.ok) return confirmed;
      const accepted = await passwords.accept(next, user.email, '/new_password');
      if (!accepted.ok) return accepted;
      const doing = { actor: `user:${user.email}`, from, nowMs: deps.now() };
      await users.setPassword({
        ...{ ...doing, userId, passwordHash: accepted.hash, keepSession: session.hash },
      });
      const turned = await deps.sessions.turn(session.hash, session.stage);
      return turned === null ? sessionEnded() : { ok: true, ...turned };
    },
    async reset({ secret, password, from }) {
      const hash = hashOfSecret(secret);
      const isLink = kindOfSecret(secret) === 'resetLink';
      const owner = isLink ? await users.findLink(hash, deps.now()) : null;
      if (owner === null) return linkEnded(deps, from);
      const accepted = await passwords.accept(password, owner.email);
      if (!accepted.ok) return accepted;
      const doing = { actor: `user:${owner.email}`, from, nowMs: deps.now() };
      const user = await users.useLink({ ...doing, hash, passwordHash: accepted.hash });
      if (user === null) return linkEnded(deps, from);
      await users.forgetFailures([accountTryKey(user.email)]);
      return { ok: true, user };
    },
  };
}

async function linkEnded(
  { audit, now }: Pick<PasswordDeskDeps, 'audit' | 'now'>,
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
