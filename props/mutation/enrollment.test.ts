// One enrollment and the life of its token, transition by transition. invariant: I2
import { describe, expect, it } from 'vitest';
import { enrollmentMachine } from '../../machines/sensor/enrollment.machine.ts';
import { drive } from '../models/driver.ts';
import { enrollmentTokenMachine } from '../models/machines/enrollment-token.machine.ts';

const INPUT = { retryMinMs: 1_000, retryMaxMs: 1_000, seed: 1 };
const begin = () => drive(enrollmentMachine, INPUT);

describe('enrollment', () => {
  it('should begin with a request and no failure', () => {
    const enrollment = begin();
    expect([enrollment.snapshot().value, enrollment.running()]).toEqual([
      'requesting',
      ['requestEnrollment'],
    ]);
    expect(enrollment.snapshot().context).toEqual({
      ...INPUT,
      failures: 0,
      retryAfterMs: null,
      reason: null,
      outcome: null,
    });
  });

  it.each([
    ['enrolled', { kind: 'enrolled', sensorId: 'sensor-1', notAfterMs: 1 }],
    ['refused', { kind: 'refused', code: 'token_invalid', detail: 'unknown' }],
  ])('should end as %s with the answer as its output', (state, answer) => {
    const enrollment = begin();
    enrollment.done('requestEnrollment', answer);
    expect([enrollment.snapshot().value, enrollment.snapshot().output]).toEqual([state, answer]);
    expect(enrollment.takeEffects()).toEqual([]);
  });

  it('should wait, say why, and try again as late as the Console asks', () => {
    const enrollment = begin();
    const failure = { reason: 'no store', retryAfterMs: 9_000 };
    enrollment.done('requestEnrollment', { kind: 'retry', ...failure });
    expect(enrollment.snapshot().value).toBe('waiting');
    expect(enrollment.takeEffects()).toEqual([{ type: 'tellRetry', params: failure }]);
    expect(enrollment.snapshot().context).toMatchObject({ failures: 1, ...failure });
    expect(enrollment.nextTimerMs()).toBe(9_000);
    enrollment.advance(9_000);
    expect(enrollment.snapshot().value).toBe('requesting');
  });

  it.each<[string, (enrollment: ReturnType<typeof begin>) => void, string]>([
    ['breaks', (one) => one.fail('requestEnrollment', 'no route'), 'no route'],
    ['gives nothing', (one) => one.done('requestEnrollment'), 'no answer'],
  ])('should wait its backoff when the request %s', (_, end, reason) => {
    const enrollment = begin();
    end(enrollment);
    expect(enrollment.takeEffects()).toEqual([
      { type: 'tellRetry', params: { reason, retryAfterMs: null } },
    ]);
    expect(enrollment.nextTimerMs()).toBe(1_000);
    enrollment.advance(1_000);
    expect(enrollment.snapshot().value).toBe('requesting');
    end(enrollment);
    expect(enrollment.snapshot().context.failures).toBe(2);
  });
});

describe('enrollment token', () => {
  const TOKEN = { tokenId: 'token-1', createdAtMs: 500, expiresAtMs: 1_500 };
  const beginToken = (over: Partial<typeof TOKEN> = {}) =>
    drive(enrollmentTokenMachine, { ...TOKEN, ...over }, 500);
  const presented = (keyDigest: string, atMs: number) => ({
    type: 'token.presented',
    keyDigest,
    atMs,
  });

  it('should expire at the end of its lifetime, at once when that is over', () => {
    const token = beginToken();
    expect(token.snapshot().context).toEqual({ ...TOKEN, consumedKeyDigest: null });
    token.advance(999);
    expect(token.snapshot().value).toBe('usable');
    token.advance(1);
    expect([token.snapshot().value, token.snapshot().status]).toEqual(['expired', 'done']);
    expect(beginToken({ expiresAtMs: 100 }).nextTimerMs()).toBe(0);
  });

  it('should be granted once, repeated to the same key and refused to another', () => {
    const token = beginToken();
    token.send(presented('key-a', 600));
    expect([token.snapshot().value, token.snapshot().context.consumedKeyDigest]).toEqual([
      'consumed',
      'key-a',
    ]);
    token.send(presented('key-a', 700));
    token.send(presented('key-b', 700));
    token.send(presented('key-a', 1_500));
    expect(token.takeEffects().map(({ params }) => params)).toEqual([
      { type: 'identity.granted', keyDigest: 'key-a' },
      { type: 'identity.repeated', keyDigest: 'key-a' },
      { type: 'token.refused', code: 'token_consumed' },
      { type: 'token.refused', code: 'token_expired' },
    ]);
    expect([token.snapshot().value, token.nextTimerMs()]).toEqual(['consumed', null]);
    token.send({ type: 'token.revoked' });
    expect(token.snapshot().value).toBe('consumed');
  });

  it('should refuse a late key and stay unused, and end when it is withdrawn', () => {
    const token = beginToken();
    token.send(presented('key-a', 1_500));
    expect(token.takeEffects().map(({ params }) => params)).toEqual([
      { type: 'token.refused', code: 'token_expired' },
    ]);
    expect(token.snapshot().value).toBe('usable');
    token.send({ type: 'token.revoked' });
    expect([token.snapshot().value, token.snapshot().status]).toEqual(['revoked', 'done']);
  });
});
