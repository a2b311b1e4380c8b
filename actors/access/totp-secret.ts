// TOTP as apps know it (RFC 6238): SHA-1, six digits, thirty seconds, a secret of 160 bits, told as an otpauth address and
// as a picture of it. decision: D39
import { Secret, TOTP } from 'otpauth';
import qrcode from 'qrcode';
import { stepAt } from '../../machines/console/access/second-factor.rules.ts';
import {
  TOTP_DIGITS,
  TOTP_SECRET_BYTES,
  TOTP_STEP_MS,
  TOTP_WINDOW_STEPS,
} from '../../machines/limits.ts';
import type { Chance } from '../trust/chance.ts';

const FORM = { algorithm: 'SHA1', digits: TOTP_DIGITS, period: TOTP_STEP_MS / 1_000 } as const;
const QR_MARGIN_MODULES = 2;

/** Makes a secret, as base32. */
export function newTotpSecret(chance: Pick<Chance, 'randomBytes'>): string {
  const bytes = new Uint8Array(chance.randomBytes(TOTP_SECRET_BYTES));
  return new Secret({ buffer: bytes.buffer }).base32;
}

/** The address an app reads: who issued the secret, for which account. */
export function totpAddress(of: {
  readonly secret: string;
  readonly issuer: string;
  readonly account: string;
}): string {
  const secret = Secret.fromBase32(of.secret);
  return new TOTP({ ...FORM, issuer: of.issuer, label: of.account, secret }).toString();
}

/** A QR code of a text as an SVG document. */
export function qrSvgOf(text: string): Promise<string> {
  return qrcode.toString(text, {
    type: 'svg',
    errorCorrectionLevel: 'M',
    margin: QR_MARGIN_MODULES,
  });
}

/** The step whose code these digits are, among those that may be shown now; null when they are the code of none. */
export function stepOfCode(secret: string, digits: string, nowMs: number): number | null {
  const delta = TOTP.validate({
    ...FORM,
    secret: Secret.fromBase32(secret),
    token: digits,
    timestamp: nowMs,
    window: TOTP_WINDOW_STEPS,
  });
  return delta === null ? null : stepAt(nowMs) + delta;
}
