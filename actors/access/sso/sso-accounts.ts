// The accounts behind a login through a provider: which there are, and what a verdict of the rules does to them. The id of
// an account that a login makes follows from provider and subject, so a login that was cut off between making the account
// and tying the subject finds its account again, without trusting an address for it. decision: D40
import { createHash } from 'node:crypto';
import type {
  SsoAdmissible,
  SsoAdmitted,
} from '../../../machines/console/access/sso-login.machine.ts';
import type {
  KnownAccount,
  KnownAccounts,
  SsoPerson,
} from '../../../machines/console/access/sso-login.rules.ts';
import type { SsoStore } from '../../../storage/ports/access/sso-store.ts';
import type { UserRow, UserStore } from '../../../storage/ports/access/users.ts';
import type { AuditLog } from '../../../storage/ports/audit/audit-log.ts';
import type { AuditContext } from '../../../storage/ports/plumbing/audit-context.ts';
import { judgedOf, type NeedOf } from '../login-need.ts';
import type { SessionService } from '../sessions.ts';

export type AccountDeps = {
  readonly sso: Pick<SsoStore, 'findIdentity' | 'link'>;
  readonly users: Pick<UserStore, 'get' | 'findByEmail' | 'create' | 'change' | 'noteLogin'>;
  readonly sessions: Pick<SessionService, 'begin' | 'end'>;
  /** What a session still lacks. */
  readonly needOf: NeedOf;
  readonly audit: Pick<AuditLog, 'append'>;
};

/** Looks up every account that matters for the verdict. Rejects with StoreUnavailable. */
export async function findAccounts(
  { sso, users }: AccountDeps,
  providerId: string,
  { subject, email }: SsoPerson,
): Promise<KnownAccounts> {
  const linkedId = await sso.findIdentity(providerId, subject);
  const [linked, made, sameEmail] = await Promise.all([
    linkedId === null ? null : users.get(linkedId),
    users.get(userIdOf(providerId, subject)),
    email === null ? null : users.findByEmail(email),
  ]);
  return { linked: knownOf(linked), made: knownOf(made), sameEmail: knownOf(sameEmail) };
}

/** Makes account, tie, role and session as the verdict says. Rejects with StoreUnavailable. */
export async function admitPerson(
  deps: AccountDeps,
  input: {
    readonly doing: AuditContext;
    readonly providerId: string;
    /** How the session will tell what the provider proved. */
    readonly method: string;
    /** When the provider says that credentials were shown; 0: it does not. */
    readonly authenticatedAtMs: number;
    readonly person: SsoPerson;
    readonly verdict: SsoAdmissible;
    readonly userAgent: string;
    /** Told the secret of the session, once it has begun. */
    readonly onBegun: (secret: string) => void;
    /** The session that the browser held before. */
    readonly replaces: Buffer | null;
  },
): Promise<SsoAdmitted> {
  const { doing, method, userAgent } = input;
  const userId = await accountOf(deps, input);
  if (userId === null) return { ok: 'changed' };
  const user = await withRole(deps, doing, userId, input.verdict.role);
  if (user === 'changed') return { ok: 'changed' };
  if (user === 'last_admin') {
    const reason = 'the role of the last admin cannot be taken away';
    return { ok: false, code: 'sso_account_refused', reason };
  }
  const address = doing.from ?? '';
  const need = deps.needOf(user, { method, stage: 'partial' });
  const stage = need === null ? 'full' : 'partial';
  const { authenticatedAtMs } = input;
  const begun = await deps.sessions.begin({
    ...{ userId, stage, method, address, userAgent, authenticatedAtMs },
    judged: judgedOf(user),
  });
  // Disabled, removed, of another role or with another factor since it was looked up.
  if (begun === null) return { ok: 'changed' };
  input.onBegun(begun.secret);
  const { nowMs, ...own } = { ...doing, actor: `user:${user.email}` };
  if (input.replaces !== null) await deps.sessions.end({ ...own, hash: input.replaces });
  const { sessionId: session } = begun.session;
  if (need === null) await deps.users.noteLogin({ ...own, nowMs, userId, method, session });
  else {
    const detail = { email: user.email, method };
    const what = { target: userId, result: 'second_factor_needed', detail };
    await deps.audit.append([{ atMs: nowMs, ...own, action: 'user.login', ...what }]);
  }
  return { ok: true, userId };
}

/** The account of the verdict, tied to the subject; null when somebody was faster. */
async function accountOf(
  { users, sso }: AccountDeps,
  input: Pick<Parameters<typeof admitPerson>[1], 'doing' | 'providerId' | 'person' | 'verdict'>,
): Promise<string | null> {
  const { doing, providerId, verdict } = input;
  const { subject } = input.person;
  if (verdict.do === 'login') return verdict.userId;
  if (verdict.do === 'create') {
    const { email, displayName, role } = verdict;
    const userId = userIdOf(providerId, subject);
    const account = { userId, email, displayName, role, passwordHash: null };
    if ((await users.create({ ...doing, ...account })) !== 'created') return null;
    return (await sso.link({ ...doing, providerId, subject, userId })) ? userId : null;
  }
  const { userId } = verdict;
  return (await sso.link({ ...doing, providerId, subject, userId })) ? userId : null;
}

/** Gives the account the role it has at the provider, which ends its sessions; the account as it is then. */
async function withRole(
  { users }: AccountDeps,
  doing: AuditContext,
  userId: string,
  role: SsoAdmissible['role'],
): Promise<UserRow | 'changed' | 'last_admin'> {
  const user = await users.get(userId);
  if (user === null) return 'changed';
  if (role === null || user.role === role) return user;
  const { revision } = user;
  const changed = await users.change({ ...doing, userId, revision, patch: { role } });
  return changed === 'not_found' || changed === 'conflict' ? 'changed' : changed;
}

function knownOf(user: UserRow | null): KnownAccount | null {
  return user === null ? null : { userId: user.userId, isActive: user.status === 'active' };
}

/** A UUID of version 8 that is always the same for a subject of a provider. */
function userIdOf(providerId: string, subject: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([providerId, subject]))
    .digest();
  const bytes = digest.subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...parts, hex.slice(20)].join('-');
}
