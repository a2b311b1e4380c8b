// What the root does with what it finds on disk, and the exit codes a supervisor reads.
import { type EnrollmentAttempt, refusalSentence } from './enrollment.rules.ts';

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notAuthenticated: 4,
  notFound: 5,
  refusedByState: 6,
  unreachable: 7,
  timedOut: 124,
} as const;

/** What the state directory holds, and whether a token is at hand. */
export type Prepared = {
  readonly identity: 'none' | 'whole' | 'forgotten' | 'expired' | 'revoked' | 'broken';
  readonly hasToken: boolean;
  /** A token of the kind that keeps the identity. */
  readonly isReenrollment: boolean;
  readonly reason: string;
};
export type NextStep = 'run' | 'enroll' | 'await' | 'revoked' | 'refuse';

/**
 * An identity that works is used and a token left alone. One that the Console forgot is given up for a token, of any kind,
 * and otherwise tried on: the Console may know it again. One that expired waits for a token, collecting. One that is
 * broken, or none at all, needs a token now. A revoked one is final: only a token for a new sensor goes on. invariant: I12
 */
export function nextStepOf(found: Prepared): NextStep {
  switch (found.identity) {
    case 'whole':
      return found.hasToken && found.isReenrollment ? 'enroll' : 'run';
    case 'forgotten':
      return found.hasToken ? 'enroll' : 'run';
    case 'expired':
      return found.hasToken ? 'enroll' : 'await';
    case 'revoked':
      return found.hasToken && !found.isReenrollment ? 'enroll' : 'revoked';
    case 'none':
    case 'broken':
      return found.hasToken ? 'enroll' : 'refuse';
  }
}

/**
 * What a sensor makes of a peer that calls its certificate expired. Only its own clock ends its identity: a Console whose
 * clock is wrong is asked again until it is right, and nothing is given up for it. decision: D67; invariant: I12
 */
export function judgeExpiry(notAfterMs: number, nowMs: number): 'expired' | 'disputed' {
  return nowMs >= notAfterMs ? 'expired' : 'disputed';
}

/** The exit code and sentence of an enrollment that ended without an identity. */
export function enrollmentFailure(attempt: EnrollmentAttempt | undefined): {
  readonly exitCode: number;
  readonly reason: string;
} {
  if (attempt?.kind === 'refused') {
    return { exitCode: EXIT.refusedByState, reason: refusalSentence(attempt.code, attempt.detail) };
  }
  return { exitCode: EXIT.unreachable, reason: attempt?.kind === 'retry' ? attempt.reason : '' };
}
