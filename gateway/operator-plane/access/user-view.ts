// People and sessions as the operator API shows them; never a hash, a secret or a cookie. invariant: I11
import Type from 'typebox';
import type { LoginEvidence } from '../../../actors/access/login-evidence.ts';
import type { UserAsking } from '../../../actors/access/users.ts';
import {
  DISPLAY_NAME_MAX_CHARS,
  EMAIL_MAX_CHARS,
  TAG_MAX_CHARS,
  USER_TAGS_MAX,
} from '../../../machines/limits.ts';
import { ROLES } from '../../../machines/trust/roles.rules.ts';
import { Uuid } from '../../../machines/wire/scalars.ts';
import type { SessionRow } from '../../../storage/ports/access/sessions.ts';
import type { UserRow } from '../../../storage/ports/access/users.ts';
import type { Operator } from '../../access/operator.ts';
import { Nullable, Time } from '../plumbing/shapes.ts';
import { timeText, timeTextOrNull } from '../plumbing/time-range.ts';

export const Email = Type.String({ minLength: 3, maxLength: EMAIL_MAX_CHARS });
export const DisplayName = Type.String({ maxLength: DISPLAY_NAME_MAX_CHARS });
export const RoleName = Type.Enum([...ROLES]);
export const UserTags = Type.Array(Type.String({ minLength: 1, maxLength: TAG_MAX_CHARS }), {
  maxItems: USER_TAGS_MAX,
  uniqueItems: true,
});
export const User = Type.Object({
  user_id: Uuid,
  email: Type.String(),
  display_name: Type.String(),
  role: RoleName,
  status: Type.Enum(['active', 'disabled']),
  tags: Type.Array(Type.String()),
  can_log_in_with_password: Type.Boolean(),
  must_change_password: Type.Boolean(),
  mfa_state: Type.Enum(['off', 'pending', 'on']),
  created_at: Time,
  password_changed_at: Nullable(Time),
  last_login_at: Nullable(Time),
  revision: Type.Integer(),
});
export const Session = Type.Object({
  session_id: Uuid,
  stage: Type.Enum(['partial', 'full']),
  method: Type.String({ description: '`password` or `sso:<provider_id>`' }),
  address: Type.String(),
  user_agent: Type.String(),
  created_at: Time,
  last_seen_at: Time,
  expires_at: Time,
  is_current: Type.Boolean({ description: 'the session that asks' }),
});
export const SessionList = Type.Object({ items: Type.Array(Session) });

/** What a session lacks, in the order in which it is asked. */
export const Needs = Type.Enum(['totp', 'password_change', 'totp_enrollment'], {
  description:
    'totp: POST /auth/mfa/verify; password_change: POST /auth/password; totp_enrollment: POST /auth/mfa/enroll, then confirm',
});
export const SinceLastLogin = Type.Object(
  {
    last_login: Nullable(Type.Object({ at: Time, from: Nullable(Type.String()) })),
    failures: Type.Integer({ description: 'refused passwords and codes since then' }),
    changes: Type.Array(
      Type.Object({
        action: Type.String({
          description: 'of the audit log, as `user.password` or `mfa.disable`',
        }),
        at: Time,
        by: Type.String(),
        from: Nullable(Type.String()),
      }),
      { description: 'of password, second factor and keys since then, newest first' },
    ),
  },
  { description: 'What happened to the account since the login before' },
);

/** What a login tells about the time before it. */
export function sinceLastLogin({
  before,
  failures,
  changes,
}: LoginEvidence): Type.Static<typeof SinceLastLogin> {
  return {
    last_login: before === null ? null : { at: timeText(before.atMs), from: before.from },
    failures,
    changes: changes.map(({ action, atMs, by, from }) => ({
      action,
      at: timeText(atMs),
      by,
      from,
    })),
  };
}

/** A person as shown. */
export function userView(row: UserRow): Type.Static<typeof User> {
  return {
    user_id: row.userId,
    email: row.email,
    display_name: row.displayName,
    role: row.role,
    status: row.status,
    tags: [...row.tags],
    can_log_in_with_password: row.passwordHash !== null,
    must_change_password: row.mustChangePassword,
    mfa_state: row.mfa.state,
    created_at: timeText(row.createdAtMs),
    password_changed_at: timeTextOrNull(row.passwordChangedAtMs),
    last_login_at: timeTextOrNull(row.lastLoginAtMs),
    revision: row.revision,
  };
}

/** A session as shown. */
export function sessionView(row: SessionRow, currentId: string): Type.Static<typeof Session> {
  return {
    session_id: row.sessionId,
    stage: row.stage,
    method: row.method,
    address: row.address,
    user_agent: row.userAgent,
    created_at: timeText(row.createdAtMs),
    last_seen_at: timeText(row.lastSeenAtMs),
    expires_at: timeText(row.expiresAtMs),
    is_current: row.sessionId === currentId,
  };
}

/** Who asks, as the desks want it. */
export function askingOf({ role, scopes, actor }: Operator, from: string): UserAsking {
  return { role, scopes, actor, from };
}
