// The renewal of the certificate, transition by transition. invariant: I4, I13
import { describe, expect, it } from 'vitest';
import { renewalMachine } from '../../machines/sensor/renewal.machine.ts';
import { type Driven, drive } from '../models/driver.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = 1_000 * HOUR_MS;
const INPUT = {
  notAfterMs: NOW_MS + 100 * HOUR_MS,
  overlapEndsMs: null,
  recommendedMs: 72 * HOUR_MS,
  dueMs: 24 * HOUR_MS,
  retryMinMs: 1_000,
  retryMaxMs: 1_000,
  seed: 1,
};
const DUE = { notAfterMs: NOW_MS + HOUR_MS };
const RENEWED = {
  kind: 'renewed',
  notAfterMs: NOW_MS + 900 * HOUR_MS,
  overlapEndsMs: NOW_MS + 500,
};
type Renewal = Driven<typeof renewalMachine>;

function looked(over: object = {}): Renewal {
  const renewal = drive(renewalMachine, { ...INPUT, ...over });
  renewal.done('readClock', NOW_MS);
  return renewal;
}
function trying(): Renewal {
  const renewal = looked(DUE);
  renewal.done('renewCertificate', RENEWED);
  renewal.takeEffects();
  return renewal;
}
const value = (renewal: Renewal) => renewal.snapshot().value;
const isBusy = (renewal: Renewal) => renewal.snapshot().hasTag('renewing');
const told = (renewal: Renewal) =>
  renewal
    .takeEffects()
    .map(({ type, params }) =>
      [type, (params as { reason?: string } | undefined)?.reason].filter(Boolean).join(' '),
    );

describe('renewal: looking', () => {
  it('should begin with a look at the clock', () => {
    const renewal = drive(renewalMachine, INPUT);
    expect([value(renewal), renewal.running(), isBusy(renewal)]).toEqual([
      'looking',
      ['readClock'],
      false,
    ]);
    expect(renewal.snapshot().context).toEqual({
      ...INPUT,
      nowMs: 0,
      failures: 0,
      retryAfterMs: null,
      isFresh: false,
    });
  });

  it('should sleep until the window, and at most a day', () => {
    const renewal = looked();
    expect([value(renewal), renewal.nextTimerMs()]).toEqual(['sleeping', 24 * HOUR_MS]);
    expect(renewal.snapshot().context.nowMs).toBe(NOW_MS);
    renewal.advance(24 * HOUR_MS);
    expect(value(renewal)).toBe('looking');
    expect(looked({ notAfterMs: NOW_MS + 75 * HOUR_MS }).nextTimerMs()).toBe(3 * HOUR_MS);
  });

  it('should sleep without a clock, and take none for the beginning of time', () => {
    const broken = drive(renewalMachine, INPUT);
    broken.fail('readClock');
    expect(value(broken)).toBe('sleeping');
    const nothing = drive(renewalMachine, INPUT);
    nothing.done('readClock');
    expect([value(nothing), nothing.snapshot().context.nowMs]).toEqual(['sleeping', 0]);
  });

  it('should forget the previous pair once its overlap is over, and only once', () => {
    const renewal = looked({ overlapEndsMs: NOW_MS });
    expect([value(renewal), told(renewal)]).toEqual(['sleeping', ['forgetPrevious']]);
    expect(renewal.snapshot().context.overlapEndsMs).toBeNull();
    const early = looked({ overlapEndsMs: NOW_MS + 1 });
    expect([told(early), early.snapshot().context.overlapEndsMs]).toEqual([[], NOW_MS + 1]);
    const both = looked({ ...DUE, overlapEndsMs: NOW_MS });
    expect([value(both), told(both)]).toEqual(['renewing', ['forgetPrevious', 'tellRenewing']]);
  });

  it('should look again when the clock jumps and renew when it is asked to', () => {
    const renewal = looked();
    renewal.send({ type: 'clock.jumped' });
    expect(value(renewal)).toBe('looking');
    renewal.done('readClock', NOW_MS);
    renewal.send({ type: 'renewal.requested' });
    expect([value(renewal), told(renewal)]).toEqual(['renewing', ['tellRenewing']]);
  });
});

describe('renewal: renewing', () => {
  it('should try the new certificate and note its dates', () => {
    const renewal = looked(DUE);
    expect([value(renewal), renewal.running(), isBusy(renewal)]).toEqual([
      'renewing',
      ['renewCertificate'],
      true,
    ]);
    renewal.done('renewCertificate', RENEWED);
    expect([value(renewal), renewal.running(), isBusy(renewal)]).toEqual([
      'trying',
      ['tryCertificate'],
      true,
    ]);
    expect(renewal.snapshot().context).toMatchObject({
      notAfterMs: RENEWED.notAfterMs,
      overlapEndsMs: RENEWED.overlapEndsMs,
    });
  });

  it.each<[string, (renewal: Renewal) => void, string, number]>([
    [
      'the Console refuses',
      (one) => one.done('renewCertificate', { kind: 'failed', reason: 'later', retryAfterMs: 900 }),
      'tellFailed later',
      1_000,
    ],
    ['it breaks', (one) => one.fail('renewCertificate', 'no route'), 'tellFailed no route', 1_000],
    ['nothing comes', (one) => one.done('renewCertificate'), 'tellFailed no answer', 1_000],
  ])('should do it again after a while when %s', (_, end, said, waitMs) => {
    const renewal = looked(DUE);
    told(renewal);
    end(renewal);
    expect([value(renewal), told(renewal), isBusy(renewal)]).toEqual(['retrying', [said], false]);
    expect([renewal.snapshot().context.failures, renewal.nextTimerMs()]).toEqual([1, waitMs]);
    expect(renewal.snapshot().context.retryAfterMs).toBe(said.endsWith('later') ? 900 : null);
    renewal.advance(waitMs);
    expect([value(renewal), told(renewal)]).toEqual(['renewing', ['tellRenewing']]);
  });

  it('should obey the Console up to the longest wait of its own', () => {
    const renewal = looked({ ...DUE, retryMaxMs: 10_000 });
    const failed = { kind: 'failed', reason: 'later' };
    renewal.done('renewCertificate', { ...failed, retryAfterMs: 7_000 });
    expect(renewal.snapshot().context.retryAfterMs).toBe(7_000);
    expect(renewal.nextTimerMs()).toBe(7_000);
    renewal.advance(7_000);
    renewal.done('renewCertificate', { ...failed, retryAfterMs: 70_000 });
    expect(renewal.nextTimerMs()).toBe(10_000);
  });
});

describe('renewal: trying', () => {
  it('should rest with a new certificate that is due at once, and look again later', () => {
    const renewal = looked(DUE);
    renewal.done('renewCertificate', { ...RENEWED, notAfterMs: NOW_MS + HOUR_MS });
    told(renewal);
    renewal.done('tryCertificate', 'accepted');
    expect([value(renewal), told(renewal)]).toEqual(['looking', ['tellRenewed']]);
    renewal.done('readClock', NOW_MS);
    expect([value(renewal), renewal.snapshot().context.isFresh]).toEqual(['resting', false]);
    expect(renewal.nextTimerMs()).toBe(INPUT.retryMaxMs);
    renewal.advance(INPUT.retryMaxMs);
    expect(value(renewal)).toBe('looking');
    renewal.done('readClock', NOW_MS);
    expect(value(renewal)).toBe('renewing');
  });

  it('should look again out of its rest when the clock jumps', () => {
    const renewal = looked(DUE);
    renewal.done('renewCertificate', { ...RENEWED, notAfterMs: NOW_MS + HOUR_MS });
    renewal.done('tryCertificate', 'accepted');
    renewal.done('readClock', NOW_MS);
    renewal.send({ type: 'clock.jumped' });
    expect(value(renewal)).toBe('looking');
  });

  it('should sleep with a new certificate that is good, all failures forgotten', () => {
    const renewal = trying();
    renewal.done('tryCertificate', 'accepted');
    expect(renewal.snapshot().context).toMatchObject({
      failures: 0,
      retryAfterMs: null,
      isFresh: true,
    });
    renewal.done('readClock', NOW_MS);
    expect([value(renewal), renewal.snapshot().context.isFresh]).toEqual(['sleeping', false]);
    expect(renewal.nextTimerMs()).toBe(500);
  });

  it.each<[string, (renewal: Renewal) => void]>([
    ['is out of reach', (one) => one.done('tryCertificate', 'unreachable')],
    ['breaks', (one) => one.fail('tryCertificate')],
  ])('should try again after its backoff when the Console %s', (_, end) => {
    const renewal = trying();
    end(renewal);
    expect([value(renewal), isBusy(renewal)]).toEqual(['retesting', false]);
    expect(renewal.snapshot().context).toMatchObject({ failures: 1, retryAfterMs: null });
    renewal.advance(INPUT.retryMaxMs);
    expect([value(renewal), renewal.running()]).toEqual(['trying', ['tryCertificate']]);
  });

  it('should put the previous pair back when the Console does not know the new one', () => {
    const renewal = trying();
    renewal.done('tryCertificate', 'rejected');
    expect([value(renewal), renewal.running(), isBusy(renewal)]).toEqual([
      'falling_back',
      ['fallBack'],
      true,
    ]);
    renewal.done('fallBack', { notAfterMs: NOW_MS + 7 });
    expect([value(renewal), told(renewal)]).toEqual([
      'retrying',
      ['tellFailed the new certificate was not accepted'],
    ]);
    expect(renewal.snapshot().context).toMatchObject({
      notAfterMs: NOW_MS + 7,
      overlapEndsMs: null,
      failures: 1,
      retryAfterMs: null,
    });
  });

  it('should go on with what it has when falling back fails or names no end', () => {
    const broken = trying();
    broken.done('tryCertificate', 'rejected');
    broken.fail('fallBack', 'read-only');
    expect([value(broken), told(broken)]).toEqual(['retrying', ['tellFailed read-only']]);
    expect(broken.snapshot().context).toMatchObject({ failures: 1, retryAfterMs: null });
    const nothing = trying();
    nothing.done('tryCertificate', 'rejected');
    nothing.done('fallBack');
    expect(nothing.snapshot().context.notAfterMs).toBe(0);
  });
});
