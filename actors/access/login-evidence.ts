// What a person is told at a login, so that somebody else's use of the account is noticed: when and from where the login
// before was, what failed since, and what changed about password and factors, and by whom. Read from the audit log, which
// has it anyway, before the login itself is noted, or by the session that a login began: who comes in through a provider has
// an answer that leads on, and asks afterwards. decision: D64

import { emailKeyOf } from '../../machines/console/access/account.rules.ts';
import { LOGIN_EVIDENCE_ROWS_MAX } from '../../machines/console/access/limits.ts';
import { MINUTE_MS } from '../../machines/units.ts';
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

// A login through a provider is dated when its browser came back, and noted when the provider has answered.
const NOTED_WITHIN_MS = MINUTE_MS;
const PAGE = { order: 'newest', after: null, limit: LOGIN_EVIDENCE_ROWS_MAX } as const;

type Audit = Pick<AuditLog, 'search'>;
type Whose = Pick<UserRow, 'userId' | 'email'>;
type Between = { readonly last: AuditRow | undefined; readonly until: AuditRow | undefined };

/** Reads the evidence of one person for a login that is not noted yet. Rejects with StoreUnavailable. */
export async function evidenceOf(audit: Audit, user: Whose): Promise<LoginEvidence> {
  const [last] = await loginsOf(audit, user, 1);
  return evidenceBetween(audit, user, { last, until: undefined });
}

/**
 * Reads what the login told, or would have told, with which a session began. Null: no login is noted for this session, or
 * it is too many logins ago. Rejects with StoreUnavailable.
 */
export async function evidenceOfSession(
  audit: Audit,
  user: Whose,
  sessionId: string,
): Promise<LoginEvidence | null> {
  const logins = await loginsOf(audit, user, PAGE.limit);
  const at = logins.findIndex(({ detail }) => detail['session'] === sessionId);
  if (at < 0 || at + 1 === PAGE.limit) return null;
  return evidenceBetween(audit, user, { last: logins[at + 1], until: logins[at] });
}

function loginsOf(audit: Audit, { userId }: Whose, limit: number): Promise<readonly AuditRow[]> {
  return audit.search({ ...PAGE, limit, action: 'user.login', target: userId, result: 'ok' });
}

async function evidenceBetween(
  audit: Audit,
  { userId, email }: Whose,
  { last, until }: Between,
): Promise<LoginEvidence> {
  const page = {
    ...PAGE,
    ...(last === undefined ? {} : { fromMs: last.atMs }),
    ...(until === undefined ? {} : { toMs: until.atMs + NOTED_WITHIN_MS }),
  };
  const keys = { action: 'api_key.create', actor: `user:${email}`, result: 'ok' };
  const [own, tried, made] = await Promise.all([
    audit.search({ ...page, target: userId }),
    audit.search({ ...page, action: 'user.login', target: emailKeyOf(email) }),
    // Their rows name the key; whose it is stands in them.
    audit.search({ ...page, ...keys }),
  ]);
  const isBetween = ({ auditId }: AuditRow) =>
    (last === undefined || auditId > last.auditId) &&
    (until === undefined || auditId < until.auditId);
  const [about, failed] = [own.filter(isBetween), tried.filter(isBetween)];
  const refused = about.filter(({ action, result }) => TRIES.has(action) && result !== 'ok');
  const ownKeys = made.filter(isBetween).filter(({ after }) => after?.['user_id'] === userId);
  const changes = about.filter(
    ({ action, result, detail }) =>
      result === 'ok' && (CHANGES.has(action) || detail['credentials_ended'] === true),
  );
  return {
    before: last === undefined ? null : { atMs: last.atMs, from: last.from },
    failures: failed.filter(({ result }) => !NO_FAILURES.has(result)).length + refused.length,
    changes: [...changes, ...ownKeys]
      .sort((a, b) => b.auditId - a.auditId)
      .map(({ action, atMs, actor: by, from }) => ({ action, atMs, by, from })),
  };
}
