// The people who operate, as accounts. Every change is audited in its own transaction. Every method rejects with
// StoreUnavailable. invariant: I18
import type { Role } from '../../../machines/trust/roles.rules.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type UserStatus = 'active' | 'disabled';
export type MfaState = 'off' | 'pending' | 'on';

export type UserRow = {
  readonly userId: string;
  readonly email: string;
  readonly displayName: string;
  readonly role: Role;
  readonly status: UserStatus;
  readonly tags: readonly string[];
  /** argon2id in PHC form; null for whoever logs in through a provider only, or has not set one yet. */
  readonly passwordHash: string | null;
  readonly passwordChangedAtMs: number | null;
  /** Somebody else knows the password: it is good for setting another, and for nothing more. */
  readonly mustChangePassword: boolean;
  readonly createdAtMs: number;
  readonly lastLoginAtMs: number | null;
  readonly mfa: {
    readonly state: MfaState;
    /** Sealed outside the database's reach; null when off. */
    readonly sealedSecret: string | null;
    /** The last time step whose code was accepted; 0 before the first. */
    readonly lastStep: number;
    readonly changedAtMs: number | null;
  };
  readonly revision: number;
};

export type UserPatch = {
  readonly displayName?: string;
  readonly role?: Role;
  readonly status?: UserStatus;
  readonly tags?: readonly string[];
};

/** Accounts themselves; passwords, links, second factors and counted failures have ports of their own. */
export type UserStore = {
  /** E-mail addresses are unique without regard to case. */
  create(
    input: AuditContext & {
      readonly userId: string;
      readonly email: string;
      readonly displayName: string;
      readonly role: Role;
      readonly passwordHash: string | null;
      readonly mustChangePassword?: boolean;
    },
  ): Promise<'created' | 'email_taken'>;
  get(userId: string): Promise<UserRow | null>;
  findByEmail(email: string): Promise<UserRow | null>;
  /** By e-mail; at most `limit`, after the given e-mail key. */
  list(page: {
    readonly limit: number;
    readonly after: string | null;
  }): Promise<readonly UserRow[]>;
  /**
   * Changes what is given. A change of role and a disabling end the user's sessions and links with it. A role that gives
   * more ends password, second factor, security keys, recovery codes and API keys, too; ties to providers stay. The last
   * active admin can be neither disabled, lowered nor removed. `conflict`: revision or role are not what was seen any more.
   */
  change(
    input: AuditContext & {
      readonly userId: string;
      readonly revision: number;
      readonly judgedRole?: Role;
      readonly patch: UserPatch;
    },
  ): Promise<UserRow | 'not_found' | 'conflict' | 'last_admin'>;
  /** `conflict`: the role is not the one that was judged any more. */
  remove(
    input: AuditContext & { readonly userId: string; readonly judgedRole?: Role },
  ): Promise<'ok' | 'not_found' | 'last_admin' | 'conflict'>;
  /** When somebody logged in, how, and with which session it goes on. */
  noteLogin(
    input: AuditContext & {
      readonly userId: string;
      readonly method: string;
      /** The id of the session, no secret. */
      readonly session: string;
    },
  ): Promise<void>;
};
