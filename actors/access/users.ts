// What admins do with accounts. Nobody gives a role, or touches an account, that holds more than the credential at hand:
// a key that was cut to a few scopes makes no admin, whoever made it. decision: D36, D37; invariant: I18
import { givesMore, isEmail } from '../../machines/console/access/account.rules.ts';
import { type ErrorCode, type Refusal, refuse } from '../../machines/errors.ts';
import { RESET_LINK_TTL_MS } from '../../machines/limits.ts';
import { type Reach, refusalOfReach, refusalOfReachAll } from '../../machines/trust/reach.rules.ts';
import { ROLES, type Role } from '../../machines/trust/roles.rules.ts';
import { formatSecret, SECRET_RANDOM_BYTES } from '../../machines/trust/secret.rules.ts';
import type { PasswordLinks } from '../../storage/ports/access/password-links.ts';
import type { UserPatch, UserRow, UserStore } from '../../storage/ports/access/users.ts';
import { type Chance, systemChance } from '../trust/chance.ts';
import { hashOfSecret } from '../trust/tokens.ts';

/** Who asks: its role and what its credential holds of it. */
export type UserAsking = Reach & { readonly actor: string; readonly from: string };
/** A one-time link; its secret is told once. */
export type ResetLink = { readonly secret: string; readonly expiresAtMs: number };

type Answer<T> = Promise<({ readonly ok: true } & T) | Refusal>;
/** Rejects with StoreUnavailable. */
export type UserService = {
  create(
    asking: UserAsking,
    input: { readonly email: string; readonly displayName: string; readonly role: Role },
  ): Answer<{ readonly user: UserRow }>;
  change(
    asking: UserAsking,
    input: { readonly userId: string; readonly revision: number; readonly patch: UserPatch },
  ): Answer<{
    readonly user: UserRow;
    /** It got more rights, so that all it got in with has ended; a new link is the way in. decision: D169 */
    readonly areCredentialsEnded: boolean;
  }>;
  remove(asking: UserAsking, userId: string): Answer<object>;
  /** Makes the one link with which the person sets a password; older ones end. */
  makeLink(asking: UserAsking, userId: string): Answer<{ readonly link: ResetLink }>;
  /** Why the credential may not touch these accounts, `null` being the Console itself; null when it may. */
  judge(by: Reach, userIds: readonly (string | null)[]): Promise<Refusal | null>;
};

export type UserServiceDeps = {
  readonly users: Pick<UserStore, 'get' | 'create' | 'change' | 'remove'>;
  readonly passwordLinks: Pick<PasswordLinks, 'createLink'>;
  readonly now: () => number;
  readonly chance?: Chance;
};

/** Makes the service. */
export function createUserService(deps: UserServiceDeps): UserService {
  const { users, passwordLinks, now, chance = systemChance } = deps;
  const doing = ({ actor, from }: UserAsking) => ({ actor, from, nowMs: now() });
  return {
    async create(asking, input) {
      if (!isEmail(input.email)) return badEmail();
      const refusal = refusalOfReachAll(asking, [input.role]);
      if (refusal !== null) return refusal;
      const userId = chance.newId();
      const made = await users.create({ ...doing(asking), ...input, userId, passwordHash: null });
      if (made === 'email_taken') return refusalOf(made);
      const user = await users.get(userId);
      return user === null ? refusalOf('not_found') : { ok: true, user };
    },
    async change(asking, input) {
      const before = await users.get(input.userId);
      if (before === null) return refusalOf('not_found');
      const to = input.patch.role ?? before.role;
      const refusal = refusalOfReach(asking, { from: before.role, to });
      if (refusal !== null) return refusal;
      // The revision alone does not keep the role that was judged: who guesses the next one names it before it is there.
      const judgedRole = before.role;
      const user = await users.change({ ...doing(asking), ...input, judgedRole });
      if (typeof user === 'string') return refusalOf(user);
      return { ok: true, user, areCredentialsEnded: givesMore(judgedRole, user.role) };
    },
    async remove(asking, userId) {
      const judged = await judgedAs(users, asking, userId);
      if (!judged.ok) return judged;
      const { role: judgedRole } = judged;
      const removed = await users.remove({ ...doing(asking), userId, judgedRole });
      return removed === 'ok' ? { ok: true } : refusalOf(removed);
    },
    async makeLink(asking, userId) {
      const judged = await judgedAs(users, asking, userId);
      if (!judged.ok) return judged;
      const secret = formatSecret('resetLink', chance.randomBytes(SECRET_RANDOM_BYTES));
      const expiresAtMs = now() + RESET_LINK_TTL_MS;
      const isMade = await passwordLinks.createLink({
        ...{ ...doing(asking), userId, judgedRole: judged.role },
        ...{ hash: hashOfSecret(secret), expiresAtMs },
      });
      return isMade ? { ok: true, link: { secret, expiresAtMs } } : refusalOf('conflict');
    },
    judge: (by, userIds) => judge(users, by, userIds),
  };
}

async function judgedAs(
  users: Pick<UserStore, 'get'>,
  asking: UserAsking,
  userId: string,
): Answer<{ readonly role: Role }> {
  const user = await users.get(userId);
  if (user === null) return refusalOf('not_found');
  const { role } = user;
  return refusalOfReachAll(asking, [role]) ?? { ok: true, role };
}

async function judge(
  users: Pick<UserStore, 'get'>,
  by: Reach,
  userIds: readonly (string | null)[],
): Promise<Refusal | null> {
  // Who reaches everybody need not know whom.
  if (userIds.length === 0 || refusalOfReachAll(by, ROLES) === null) return null;
  for (const userId of userIds) {
    const role = userId === null ? 'admin' : (await users.get(userId))?.role;
    const refusal = role === undefined ? null : refusalOfReachAll(by, [role]);
    if (refusal !== null) return refusal;
  }
  return null;
}

const DETAILS = {
  not_found: 'There is no such account.',
  email_taken: 'An account has this e-mail address.',
  last_admin: 'The last active admin can be neither lowered, disabled nor removed.',
  user_conflict: 'The account was changed meanwhile; read it again.',
} as const satisfies Partial<Record<ErrorCode, string>>;

function refusalOf(reason: 'not_found' | 'email_taken' | 'last_admin' | 'conflict'): Refusal {
  const code = reason === 'conflict' ? 'user_conflict' : reason;
  return refuse(code, DETAILS[code]);
}

function badEmail(): Refusal {
  const errors = [{ pointer: '/email', detail: 'must be an e-mail address' }];
  return refuse('schema_violation', 'The request does not fit its schema.', { errors });
}
