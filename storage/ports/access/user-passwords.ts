// Passwords as their hashes. A change is audited in its own transaction. Every method rejects with StoreUnavailable.
// invariant: I11, I18
import type { AuditContext } from '../plumbing/audit-context.ts';
import type { SessionRow, SessionTurn } from './sessions.ts';

export type PasswordStore = {
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
};
