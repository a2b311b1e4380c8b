// Second factors: one secret a person, and the codes that stand for it once. Every change is audited in its own
// transaction. Every method rejects with StoreUnavailable. decision: D39; invariant: I11
import type { Role } from '../../../machines/trust/roles.rules.ts';
import type { AuditContext } from '../plumbing/audit-context.ts';

export type SecondFactorStore = {
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
  /** Puts the same secret in place under another key; false when it is not the one that was read any more. */
  reseal(input: {
    readonly userId: string;
    readonly was: string;
    readonly sealed: string;
  }): Promise<boolean>;
  /** Accepts a step once: false when it or a later one was accepted before. Atomic. */
  acceptTotpStep(input: { readonly userId: string; readonly step: number }): Promise<boolean>;
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
};

/** Codes for whoever lost the second factor; only their hashes are kept. */
export type RecoveryCodes = {
  /** Uses a recovery code once. Atomic, audited. */
  useRecoveryCode(
    input: AuditContext & { readonly userId: string; readonly hash: Buffer },
  ): Promise<boolean>;
  recoveryCodesLeft(userId: string): Promise<number>;
  replaceRecoveryCodes(
    input: AuditContext & { readonly userId: string; readonly hashes: readonly Buffer[] },
  ): Promise<boolean>;
};
