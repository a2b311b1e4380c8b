// How a shown code is judged: it takes a try first, so that many at one instant get no more looks than one after the
// other, and the store accepts a step or a recovery code once. decision: D39; invariant: I18
import {
  isStepAcceptable,
  readCode,
  waitOfTries,
} from '../../machines/console/access/second-factor.rules.ts';
import { type Refusal, refuse } from '../../machines/errors.ts';
import { MFA_TRIES_WINDOW_MS } from '../../machines/limits.ts';
import type { UserRow } from '../../storage/ports/access/users.ts';
import type { AuditContext } from '../../storage/ports/plumbing/audit-context.ts';
import { hashOfRecoveryCode } from './recovery-codes.ts';
import type { FactorAsking, SecondFactorDeps } from './second-factor-service.ts';
import { stepOfCode } from './totp-secret.ts';

const WRONG = 'This is not a code that counts now.';

/** Whose secret a sealed text is. */
export const contextOf = (userId: string): string => `totp:${userId}`;
/** Under what wrong codes are counted. */
export const triesKeyOf = (userId: string): string => `mfa:${userId}`;

/** Takes a try, then looks; a lock ends a partial session, so that whoever guesses has to bring the password again. */
export async function tryOnce<T>(
  { loginFailures, sessions, audit, now }: SecondFactorDeps,
  asking: FactorAsking,
  look: () => Promise<T | null>,
): Promise<{ readonly ok: true; readonly value: T } | Refusal> {
  const key = triesKeyOf(asking.userId);
  const nowMs = now();
  const locked = async (retryAfterMs: number): Promise<Refusal> => {
    const { actor, from, session } = asking;
    if (session.stage === 'partial') {
      await sessions.end({ actor, from, hash: session.hash });
    }
    return refuse('mfa_locked', 'No code is looked at until the time is over.', { retryAfterMs });
  };
  const waitMs = await loginFailures.takeTry({
    ...{ keys: [key], nowMs, windowMs: MFA_TRIES_WINDOW_MS },
    waitMs: (failures) => waitOfTries(failures, nowMs),
  });
  if (waitMs > 0) return locked(waitMs);
  const value = await look();
  if (value !== null) {
    await loginFailures.forgetFailures([key]);
    return { ok: true, value };
  }
  const { actor, from, userId: target } = asking;
  await audit.append([
    {
      atMs: nowMs,
      actor,
      action: 'mfa.code',
      target,
      result: 'mfa_code_invalid',
      from,
      detail: {},
    },
  ]);
  const [failures] = await loginFailures.failuresOf([key], nowMs, MFA_TRIES_WINDOW_MS);
  const leftMs = failures === undefined ? 0 : waitOfTries(failures, nowMs);
  return leftMs > 0 ? locked(leftMs) : refuse('mfa_code_invalid', WRONG);
}

/** Uses a code up: a step of the app or a recovery code, each once. */
export async function useCode(
  deps: SecondFactorDeps,
  user: UserRow,
  { code, doing }: { readonly code: string; readonly doing: AuditContext },
): Promise<'totp' | 'recovery' | null> {
  const { userId } = user;
  const read = readCode(code);
  if (read?.kind === 'recovery') {
    const hash = hashOfRecoveryCode(read.code);
    return (await deps.recoveryCodes.useRecoveryCode({ ...doing, userId, hash }))
      ? 'recovery'
      : null;
  }
  const step = stepShown(deps, user, code);
  if (step === null) return null;
  return (await deps.secondFactors.acceptTotpStep({ userId, step })) ? 'totp' : null;
}

/** The step whose code was shown, when it may count now; the store has the last word. */
export function stepShown(
  { sealer, now, logger }: SecondFactorDeps,
  { userId, mfa }: UserRow,
  code: string,
): number | null {
  const read = readCode(code);
  if (read?.kind !== 'totp' || mfa.sealedSecret === null) return null;
  const secret = sealer.open(mfa.sealedSecret, contextOf(userId));
  if (secret === null) {
    // Recovery codes go on working, and an admin can reset what cannot be read.
    logger.error({ user_id: userId }, 'the secret of a second factor cannot be opened');
    return null;
  }
  const nowMs = now();
  const step = stepOfCode(secret, read.code, nowMs);
  const lastStep = mfa.lastStep;
  return step !== null && isStepAcceptable({ step, lastStep }, nowMs) ? step : null;
}
