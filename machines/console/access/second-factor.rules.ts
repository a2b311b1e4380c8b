// What a second factor accepts. A TOTP code is good for the step it belongs to and the one after, never before it, and a
// step is accepted once: neither it nor an earlier one ever again. Tries are counted before they are looked at, so that many at
// one instant get no more of them than one after the other. decision: D39; invariant: I18
import {
  MFA_TRIES_MAX,
  MFA_TRIES_WINDOW_MS,
  RECOVERY_CODE_BYTES,
  RECOVERY_CODE_OLD_BYTES,
  TOTP_DIGITS,
  TOTP_STEP_MS,
  TOTP_WINDOW_STEPS,
} from '../../limits.ts';
import type { Role } from '../../trust/roles.rules.ts';

export type FactorState = 'off' | 'pending' | 'on';

/** Wrong codes in a row, and when the last one came. */
export type Tries = { readonly failures: number; readonly lastAtMs: number };
export const NO_TRIES: Tries = { failures: 0, lastAtMs: 0 };

/** What a login still lacks: the second factor, a password that only its owner knows, or to have a factor at all. */
export type LoginNeed = 'totp' | 'password_change' | 'totp_enrollment';

/** How long to wait before another code is looked at; 0 when one may be tried now. */
export function waitOfTries({ failures, lastAtMs }: Tries, nowMs: number): number {
  if (failures < MFA_TRIES_MAX) return 0;
  // A clock that was set back may not lock anybody for longer than the window.
  return Math.min(MFA_TRIES_WINDOW_MS, Math.max(0, lastAtMs + MFA_TRIES_WINDOW_MS - nowMs));
}

/** The count after one more wrong code; it begins anew when the last one is a window ago. */
export function afterWrongCode({ failures, lastAtMs }: Tries, nowMs: number): Tries {
  const isOver = nowMs - lastAtMs >= MFA_TRIES_WINDOW_MS;
  return { failures: isOver ? 1 : failures + 1, lastAtMs: nowMs };
}

/** The time step of an instant. */
export function stepAt(nowMs: number): number {
  return Math.floor(nowMs / TOTP_STEP_MS);
}

/** Whether a code of `step` counts now: near enough, and later than every step accepted before. */
export function isStepAcceptable(
  facts: { readonly step: number; readonly lastStep: number },
  nowMs: number,
): boolean {
  const { step, lastStep } = facts;
  const age = stepAt(nowMs) - step;
  return age >= 0 && age <= TOTP_WINDOW_STEPS && step > lastStep;
}

/**
 * What a login lacks, one after the other: `stage` is `full` once the second factor was shown. A provider that proved a
 * second factor (`+mfa`) leaves nothing to ask; without that proof the local one is asked where the role needs one, and
 * of everybody where the provider had to prove it (`+local`). decision: D63
 */
export function needOfLogin(login: {
  readonly method: string;
  readonly state: FactorState;
  readonly role: Role;
  readonly requiredRoles: readonly Role[];
  readonly mustChangePassword?: boolean;
  readonly stage?: 'partial' | 'full';
}): LoginNeed | null {
  if (login.method.startsWith('sso:')) return needOfSso(login);
  if (login.state === 'on' && login.stage !== 'full') return 'totp';
  if (login.mustChangePassword === true) return 'password_change';
  if (login.state === 'on') return null;
  return login.requiredRoles.includes(login.role) ? 'totp_enrollment' : null;
}

function needOfSso(login: {
  readonly method: string;
  readonly state: FactorState;
  readonly role: Role;
  readonly requiredRoles: readonly Role[];
  readonly stage?: 'partial' | 'full';
}): LoginNeed | null {
  if (login.method.endsWith('+mfa')) return null;
  const isAsked = login.method.endsWith('+local') || login.requiredRoles.includes(login.role);
  if (!isAsked) return null;
  if (login.state !== 'on') return 'totp_enrollment';
  return login.stage === 'full' ? null : 'totp';
}

export type PresentedCode = {
  readonly kind: 'totp' | 'recovery';
  readonly code: string;
};

// Without the letters that look like digits; a person who types them anyway means the digits.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const BITS_PER_CHAR = 5;
const RECOVERY_CHARS = (RECOVERY_CODE_BYTES * 8) / BITS_PER_CHAR;
const RECOVERY_OLD_CHARS = (RECOVERY_CODE_OLD_BYTES * 8) / BITS_PER_CHAR;
const GROUP_CHARS = 4;
const TOTP_TEXT = new RegExp(`^[0-9]{${TOTP_DIGITS}}$`);
const RECOVERY_TEXT = new RegExp(
  `^(?:[${ALPHABET}]{${RECOVERY_CHARS}}|[${ALPHABET}]{${RECOVERY_OLD_CHARS}})$`,
);

/** What somebody typed, in its one spelling; null when it can be no code at all. */
export function readCode(text: string): PresentedCode | null {
  const bare = text.replace(/[\s-]/g, '').toLowerCase();
  if (TOTP_TEXT.test(bare)) return { kind: 'totp', code: bare };
  const code = bare.replace(/o/g, '0').replace(/[il]/g, '1');
  return RECOVERY_TEXT.test(code) ? { kind: 'recovery', code } : null;
}

/** Formats random bytes as a recovery code that people can copy: six groups of four, `xxxx-xxxx-…`. */
export function formatRecoveryCode(random: Uint8Array): string {
  if (random.length !== RECOVERY_CODE_BYTES) throw new Error('a recovery code needs its bytes');
  let value = random.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  let text = '';
  for (let at = 0; at < RECOVERY_CHARS; at += 1) {
    text = (ALPHABET[Number(value & 31n)] ?? '0') + text;
    value >>= BigInt(BITS_PER_CHAR);
    const isGroupDone = (at + 1) % GROUP_CHARS === 0 && at + 1 < RECOVERY_CHARS;
    if (isGroupDone) text = `-${text}`;
  }
  return text;
}
