// Recovery codes: for whoever lost the app. Each carries 120 random bits, so its SHA-256 needs no salt and no slow hash.
// decision: D39; invariant: I11
import { createHash } from 'node:crypto';
import { formatRecoveryCode, readCode } from '../../machines/console/access/second-factor.rules.ts';
import { RECOVERY_CODE_BYTES, RECOVERY_CODES_COUNT } from '../../machines/limits.ts';
import type { Chance } from '../trust/chance.ts';

/** Makes a fresh set: the codes to show once, and the hashes to keep. */
export function newRecoveryCodes(chance: Pick<Chance, 'randomBytes'>): {
  readonly codes: readonly string[];
  readonly hashes: readonly Buffer[];
} {
  const codes = Array.from({ length: RECOVERY_CODES_COUNT }, () =>
    formatRecoveryCode(chance.randomBytes(RECOVERY_CODE_BYTES)),
  );
  return { codes, hashes: codes.map((code) => hashOfRecoveryCode(readCode(code)?.code ?? code)) };
}

/** By what a code is found; takes its one spelling. */
export function hashOfRecoveryCode(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}
