// Security keys of people, and the challenges that their sessions wait to see answered. Keys are there only beside a second
// factor that is on, and go with it. Every method rejects with StoreUnavailable. decision: D73; invariant: I11
import type { AuditContext } from '../plumbing/audit-context.ts';

export type SecurityKeyRow = {
  /** Names it to people; no secret. */
  readonly keyId: string;
  readonly userId: string;
  /** By what the key names itself, base64url. */
  readonly credentialId: string;
  /** As COSE tells it. */
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly name: string;
  readonly transports: readonly string[];
  readonly madeAtMs: number;
  readonly usedAtMs: number | null;
};
export type NewSecurityKey = Omit<SecurityKeyRow, 'userId' | 'madeAtMs' | 'usedAtMs'>;
export type ChallengePurpose = 'add' | 'use';

export type SecurityKeyStore = {
  /** Oldest first. */
  listOf(userId: string): Promise<readonly SecurityKeyRow[]>;
  /** What a session is to answer, in place of what it was to answer before; false when the session has ended. */
  putChallenge(input: {
    readonly session: Buffer;
    readonly purpose: ChallengePurpose;
    readonly challenge: string;
    readonly expiresAtMs: number;
    readonly nowMs: number;
  }): Promise<boolean>;
  /** Takes it, once; null when there is none or its time is over. Atomic. */
  takeChallenge(input: {
    readonly session: Buffer;
    readonly purpose: ChallengePurpose;
    readonly nowMs: number;
  }): Promise<string | null>;
  /**
   * Adds a key, audited, while the session that asked lives and the second factor is on. `known`: somebody has it.
   * `too_many`: SECURITY_KEYS_PER_USER_MAX.
   */
  add(
    input: AuditContext & {
      readonly userId: string;
      readonly bySession: Buffer;
      readonly key: NewSecurityKey;
    },
  ): Promise<'added' | 'known' | 'too_many' | 'no_factor' | 'no_session'>;
  /** Notes a use whose counter went on, while the second factor is on; false else. Atomic. */
  use(input: {
    readonly userId: string;
    readonly keyId: string;
    readonly counter: number;
    readonly nowMs: number;
  }): Promise<boolean>;
  /** Removes a key of the person, audited; false when there is none, or the session that asked has ended. */
  remove(
    input: AuditContext & {
      readonly userId: string;
      readonly keyId: string;
      readonly bySession: Buffer;
    },
  ): Promise<boolean>;
};
