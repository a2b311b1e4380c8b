// What the stores of people and sessions write into the audit log, in the transaction of the change: the same in every
// store, never a hash, a secret or a cookie. invariant: I11

import type { AuditAction } from '../../../machines/audit-actions.ts';
import type { AuditEntry, AuditFacts } from '../audit/audit-log.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';
import type { NewSecurityKey } from './security-keys.ts';
import type { UserRow, UserStore } from './users.ts';

type About = Pick<UserRow, 'userId' | 'email'>;

/** One action on an account; `target` is its id, and its e-mail stands in the details. */
export function auditOfUser(
  doing: AuditContext,
  what: {
    readonly action: AuditAction;
    readonly user: About | string;
    readonly result?: string;
    readonly before?: AuditFacts | null;
    readonly after?: AuditFacts | null;
    readonly detail?: AuditFacts;
  },
): AuditEntry {
  const { user } = what;
  return {
    atMs: doing.nowMs,
    actor: doing.actor,
    action: what.action,
    target: typeof user === 'string' ? user : user.userId,
    result: what.result ?? 'ok',
    from: doing.from,
    before: what.before,
    after: what.after,
    detail: { ...(typeof user === 'string' ? {} : { email: user.email }), ...what.detail },
  };
}

/** Creation, done or refused because the address is taken. */
export function auditOfUserCreate(
  input: Parameters<UserStore['create']>[0],
  result: string,
): AuditEntry {
  const { userId, email, displayName, role } = input;
  const after = { email, display_name: displayName, role, status: 'active' };
  return auditOfUser(input, {
    ...{ action: 'user.create', user: { userId, email }, result },
    after: result === 'ok' ? after : null,
  });
}

/** A change, with only the fields that differ, and what ended with it; keys are null where credentials stay. */
export function auditOfUserChange(
  doing: AuditContext,
  before: UserRow,
  after: UserRow,
  ended?: { readonly sessions: number; readonly keys: number | null },
): AuditEntry {
  const [old, now] = [editableOf(before), editableOf(after)];
  const names = Object.keys(now).filter(
    (name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]),
  );
  const pick = (facts: AuditFacts) => Object.fromEntries(names.map((name) => [name, facts[name]]));
  return auditOfUser(doing, {
    ...{ action: 'user.change', user: after, before: pick(old), after: pick(now) },
    detail: {
      ...(ended === undefined ? {} : { sessions_ended: ended.sessions }),
      ...(ended === undefined || ended.keys === null
        ? {}
        : { credentials_ended: true, api_keys_revoked: ended.keys }),
    },
  });
}

/** A security key that was added or removed. */
export function auditOfKey(
  doing: AuditContext,
  {
    action,
    user,
    key,
  }: {
    readonly action: 'mfa.key_add' | 'mfa.key_remove';
    readonly user: About;
    readonly key: Pick<NewSecurityKey, 'keyId' | 'name'>;
  },
): AuditEntry {
  const facts = { key_id: key.keyId, name: key.name };
  const isAdded = action === 'mfa.key_add';
  return auditOfUser(doing, {
    ...{ action, user },
    ...(isAdded ? { before: null, after: facts } : { before: facts, after: null }),
  });
}

/** What an admin may edit, as the audit log tells it. */
export function editableOf(row: UserRow): AuditFacts {
  const { email, displayName, role, status, tags } = row;
  return { email, display_name: displayName, role, status, tags };
}

/** A removal, done or refused. */
export function auditOfUserRemove(
  doing: AuditContext & { readonly userId: string },
  before: UserRow | null,
  result: string,
): AuditEntry {
  return auditOfUser(doing, {
    ...{ action: 'user.remove', user: before ?? doing.userId, result },
    before: result === 'ok' && before !== null ? editableOf(before) : null,
  });
}
