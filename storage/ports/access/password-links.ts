// One-time links with which a first or forgotten password is set, found by the SHA-256 of their secret. Every change is
// audited in its own transaction. Every method rejects with StoreUnavailable. invariant: I2, I11, I18
import type { Role } from '../../../machines/trust/roles.rules.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';
import type { UserRow } from './users.ts';

export type PasswordLinks = {
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
};
