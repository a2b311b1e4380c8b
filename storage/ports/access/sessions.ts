// Sessions of people: found by the SHA-256 of the cookie's value. Every method rejects with StoreUnavailable.
// invariant: I11, I18
import type { Role } from '../../../machines/trust/roles.rules.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type SessionStage = 'partial' | 'full';

export type SessionRow = {
  readonly hash: Buffer;
  /** Names it to people; no secret. */
  readonly sessionId: string;
  readonly userId: string;
  readonly stage: SessionStage;
  /** `password` or `sso:<provider_id>`; with `+mfa` where the provider proved a second factor, `+local` where it had to and did not. */
  readonly method: string;
  readonly address: string;
  readonly userAgent: string;
  readonly createdAtMs: number;
  /** When its person last showed what the account asks for; 0: a provider did not say. decision: D63 */
  readonly authenticatedAtMs: number;
  readonly lastSeenAtMs: number;
  readonly expiresAtMs: number;
  readonly endedAtMs: number | null;
};

/** How a session goes on under a new secret. */
export type SessionTurn = {
  readonly from: Buffer;
  readonly to: Buffer;
  readonly sessionId: string;
  readonly stage: SessionStage;
  readonly expiresAtMs: number;
  /** Null: nothing was shown that is more than the session had. */
  readonly authenticatedAtMs: number | null;
  readonly nowMs: number;
};

/** What a login was judged by; a session begins only while all of it is so. */
export type JudgedLogin = {
  /** Absent: no password was judged. */
  readonly passwordHash?: string | null;
  readonly role: Role;
  readonly hasFactor: boolean;
};

export type SessionStore = {
  /**
   * Begins a session; of more than SESSIONS_PER_USER_MAX live ones the oldest end, partial ones first: who knows the
   * password alone pushes nobody out. False when the person is gone or disabled, or when password, role or second factor
   * are not what was judged any more, so that a login that was under way does not outlive a change of them.
   * invariant: I18
   */
  create(
    row: Omit<SessionRow, 'endedAtMs' | 'lastSeenAtMs'>,
    judged?: JudgedLogin,
  ): Promise<boolean>;
  findByHash(hash: Buffer): Promise<SessionRow | null>;
  /**
   * Ends one session and begins another for the same person in one transaction: after a login, a second factor, a change
   * of role. Null when the old one has ended already. invariant: I18
   */
  rotate(input: SessionTurn): Promise<SessionRow | null>;
  /** When sessions were last used; written in batches. */
  touch(seen: readonly { readonly hash: Buffer; readonly atMs: number }[]): Promise<void>;
  /** Live ones of a user, newest first. */
  listOf(userId: string, nowMs: number): Promise<readonly SessionRow[]>;
  end(input: AuditContext & { readonly hash: Buffer }): Promise<boolean>;
  /** Ends one by its name, if it belongs to the user. */
  endOf(
    input: AuditContext & { readonly userId: string; readonly sessionId: string },
  ): Promise<boolean>;
  /** Ends all of a user but the one kept; how many. */
  endAllOf(
    input: AuditContext & { readonly userId: string; readonly keep: Buffer | null },
  ): Promise<number>;
  /** Removes what ended before the instant; how many. */
  sweep(beforeMs: number): Promise<number>;
};
