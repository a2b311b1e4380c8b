// The people who operate: accounts, passwords, second factors, and the links with which a password is set. Every change
// is audited in its own transaction. Every method rejects with StoreUnavailable. invariant: I11, I18
import type { Role } from '../../../machines/trust/roles.rules.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';
import type { SessionRow, SessionTurn } from './sessions.ts';

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

export type LoginFailures = {
  readonly key: string;
  readonly failures: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
};

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
   * Changes what is given. A change of role and a disabling end the user's sessions and links with it; the last active
   * admin can be neither disabled, lowered nor removed.
   */
  change(
    input: AuditContext & {
      readonly userId: string;
      readonly revision: number;
      readonly patch: UserPatch;
    },
  ): Promise<UserRow | 'not_found' | 'conflict' | 'last_admin'>;
  /** `conflict`: the role is not the one that was judged any more. */
  remove(
    input: AuditContext & { readonly userId: string; readonly judgedRole?: Role },
  ): Promise<'ok' | 'not_found' | 'last_admin' | 'conflict'>;
  /**
   * Sets the password in place of the one that was judged, ends every session and link of the user, and begins the
   * session that goes on. All at once or, when another hash is in force or the session has ended meanwhile, null and
   * nothing: a reset that came between is not undone. invariant: I18
   */
  setPassword(
    input: AuditContext & {
      readonly userId: string;
      readonly replaces: string | null;
      readonly passwordHash: string;
      readonly turn: SessionTurn;
    },
  ): Promise<SessionRow | null>;
  /** A better hash of the same password in place of the one it was made from; not audited, ends nothing. */
  rehash(input: {
    readonly userId: string;
    readonly replaces: string;
    readonly passwordHash: string;
  }): Promise<void>;
  noteLogin(
    input: AuditContext & { readonly userId: string; readonly method: string },
  ): Promise<void>;

  /** Makes a one-time link; older ones of the user end. False when the role is not the one that was judged any more. */
  createLink(
    input: AuditContext & {
      readonly userId: string;
      readonly judgedRole?: Role;
      readonly hash: Buffer;
      readonly expiresAtMs: number;
    },
  ): Promise<boolean>;
  /**
   * Uses a link once: sets the password and ends every session, every other link and, unless they are kept, every API key
   * of the user. Null when it is unknown, used or expired, or its user disabled.
   */
  useLink(
    input: AuditContext & {
      readonly hash: Buffer;
      readonly passwordHash: string;
      readonly keepsKeys?: boolean | undefined;
    },
  ): Promise<UserRow | null>;
  /** Whose link it is, when it is good. */
  findLink(hash: Buffer, nowMs: number): Promise<UserRow | null>;

  /** Puts a new secret in place of a pending one; refused while a second factor is on. */
  beginTotp(
    input: AuditContext & { readonly userId: string; readonly sealedSecret: string },
  ): Promise<boolean>;
  /**
   * Turns the pending secret on with its first step and its recovery codes; ends the user's other sessions. False when
   * the session that is kept has ended meanwhile.
   */
  confirmTotp(
    input: AuditContext & {
      readonly userId: string;
      readonly sealedSecret: string;
      readonly step: number;
      readonly recoveryHashes: readonly Buffer[];
      readonly keepSession: Buffer | null;
    },
  ): Promise<boolean>;
  /** Accepts a step once: false when it or a later one was accepted before. Atomic. */
  acceptTotpStep(input: { readonly userId: string; readonly step: number }): Promise<boolean>;
  /** Uses a recovery code once. Atomic, audited. */
  useRecoveryCode(
    input: AuditContext & { readonly userId: string; readonly hash: Buffer },
  ): Promise<boolean>;
  recoveryCodesLeft(userId: string): Promise<number>;
  replaceRecoveryCodes(
    input: AuditContext & { readonly userId: string; readonly hashes: readonly Buffer[] },
  ): Promise<boolean>;
  /**
   * Turns the second factor off and forgets its codes; ends the user's other sessions. False when the session that is
   * kept has ended meanwhile, or the role is not the one that was judged any more.
   */
  removeTotp(
    input: AuditContext & {
      readonly userId: string;
      readonly judgedRole?: Role;
      readonly keepSession: Buffer | null;
    },
  ): Promise<boolean>;

  /**
   * Takes one try under every key at once, or none: `waitMs` judges each count, and the longest wait is given back; 0
   * when the try was counted. Tries that arrive together are judged one after the other, so that none slips past. A last
   * failure more than a window ahead was dated by a wrong clock: it counts as of now, so that no wait lasts till then.
   */
  takeTry(input: {
    readonly keys: readonly string[];
    readonly nowMs: number;
    readonly windowMs: number;
    readonly waitMs: (failures: LoginFailures) => number;
  }): Promise<number>;
  /** Gives a try that was right back. */
  returnTry(keys: readonly string[]): Promise<void>;
  /** Counts one failure under every key at once and gives the counts back; a count begins anew when its last failure is a
   * window ago. */
  noteFailure(input: {
    readonly keys: readonly string[];
    readonly nowMs: number;
    readonly windowMs: number;
  }): Promise<readonly LoginFailures[]>;
  failuresOf(
    keys: readonly string[],
    nowMs: number,
    windowMs: number,
  ): Promise<readonly LoginFailures[]>;
  forgetFailures(keys: readonly string[]): Promise<void>;
  /** Forgets counts whose last failure lies before the instant; how many. */
  sweepFailures(beforeMs: number): Promise<number>;
};
