// What a person is told at a login, so that somebody else's use of the account is noticed: when and from where the login
// before was, what failed since, and what changed about password and factors, and by whom. Read from the audit log, which
// has it anyway, before the login itself is noted. decision: D64

import { emailKeyOf } from '../../machines/console/access/account.rules.ts';
import { LOGIN_EVIDENCE_ROWS_MAX } from '../../machines/console/access/limits.ts';
import type { UserRow } from '../../storage/ports/access/users.ts';
import type { AuditLog, AuditRow } from '../../storage/ports/audit/audit-log.ts';

export type LoginEvidence = {
  readonly before: { readonly atMs: number; readonly from: string | null } | null;
  /** Refused passwords and codes since then; at most LOGIN_EVIDENCE_ROWS_MAX. */
  readonly failures: number;
  readonly changes: readonly {
    readonly action: string;
    readonly atMs: number;
    readonly by: string;
    readonly from: string | null;
  }[];
};

const CHANGES: ReadonlySet<string> = new Set([
  ...['user.password', 'user.reset', 'user.reset_link', 'mfa.enable', 'mfa.disable'],
  ...['mfa.key_add', 'mfa.key_remove'],
  ...['mfa.recovery_codes', 'mfa.recovery_code_used', 'user.link_identity'],
]);
/** Codes, and passwords that are said again in a session. */
const TRIES: ReadonlySet<string> = new Set(['mfa.code', 'user.reauthenticate']);
const NO_FAILURES: ReadonlySet<string> = new Set([
  'ok',
  'second_factor_needed',
  'password_change_needed',
]);

/** Reads the evidence of one person. Rejects with StoreUnavailable. */
export async function evidenceOf(
  audit: Pick<AuditLog, 'search'>,
  { userId, email }: Pick<UserRow, 'userId' | 'email'>,
): Promise<LoginEvidence> {
  const page = { order: 'newest', after: null, limit: LOGIN_EVIDENCE_ROWS_MAX } as const;
  const ok = { action: 'user.login', target: userId, result: 'ok' };
  const [last] = await audit.search({ ...page, ...ok, limit: 1 });
  const since = last === undefined ? {} : { fromMs: last.atMs };
  const keys = { action: 'api_key.create', actor: `user:${email}`, result: 'ok' };
  const [own, tried, made] = await Promise.all([
    audit.search({ ...page, ...since, target: userId }),
    audit.search({ ...page, ...since, action: 'user.login', target: emailKeyOf(email) }),
    // Their rows name the key; whose it is stands in them.
    audit.search({ ...page, ...since, ...keys }),
  ]);
  const isNewer = ({ auditId }: AuditRow) => last === undefined || auditId > last.auditId;
  const [about, failed] = [own.filter(isNewer), tried.filter(isNewer)];
  const refused = about.filter(({ action, result }) => TRIES.has(action) && result !== 'ok');
  const ownKeys = made.filter(isNewer).filter(({ after }) => after?.['user_id'] === userId);
  const changes = about.filter(({ action, result }) => CHANGES.has(action) && result === 'ok');
  return {
    before: last === undefined ? null : { atMs: last.atMs, from: last.from },
    failures: failed.filter(({ result }) => !NO_FAILURES.has(result)).length + refused.length,
    changes: [...changes, ...ownKeys]
      .sort((a, b) => b.auditId - a.auditId)
      .map(({ action, atMs, actor: by, from }) => ({ action, atMs, by, from })),
  };
}
