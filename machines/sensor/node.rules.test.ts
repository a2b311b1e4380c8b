import { describe, expect, it } from 'vitest';
import { EXIT, enrollmentFailure, nextStepOf, type Prepared } from './node.rules.ts';

describe('nextStepOf', () => {
  it.each<[Prepared['identity'], string, string, string]>([
    ['whole', 'run', 'run', 'enroll'],
    ['forgotten', 'run', 'enroll', 'enroll'],
    ['expired', 'await', 'enroll', 'enroll'],
    ['revoked', 'revoked', 'enroll', 'revoked'],
    ['none', 'refuse', 'enroll', 'enroll'],
    ['broken', 'refuse', 'enroll', 'enroll'],
  ])('should with an identity that is %s go on by the token at hand', (identity, ...steps) => {
    const found = [
      { hasToken: false, isReenrollment: false },
      { hasToken: true, isReenrollment: false },
      { hasToken: true, isReenrollment: true },
    ].map((token) => nextStepOf({ identity, ...token, reason: '' }));
    expect(found).toEqual(steps);
  });
});

describe('enrollmentFailure', () => {
  it('should tell a refusal from a Console that was not reached', () => {
    expect(
      enrollmentFailure({ kind: 'refused', code: 'token_invalid', detail: 'no such token' }),
    ).toEqual({
      exitCode: 6,
      reason:
        'token_invalid: no such token; check that the token is of this Console, or make a new one on the Console: service-console tokens create',
    });
    expect(enrollmentFailure({ kind: 'retry', reason: 'no route', retryAfterMs: null })).toEqual({
      exitCode: 7,
      reason: 'no route',
    });
    expect(enrollmentFailure(undefined)).toEqual({ exitCode: 7, reason: '' });
  });

  it('should keep the exit codes that supervisors read', () => {
    expect(EXIT).toEqual({
      ok: 0,
      failed: 1,
      usage: 2,
      notAuthenticated: 4,
      notFound: 5,
      refusedByState: 6,
      unreachable: 7,
      timedOut: 124,
    });
  });
});
