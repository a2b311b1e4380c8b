// The license limits nothing before its grace is over, everything new above its number after it, and a clock that goes
// back gives nothing back. invariant: I16
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type LicenseContext,
  type LicenseEvent,
  licenseMachine,
} from '../../machines/console/license/license.machine.ts';
import { LICENSE_CHECK_MAX_MS, SKEW_TOLERATED_MS } from '../../machines/limits.ts';
import {
  bannersOfLicense,
  checkDelayMs,
  factsOfLicense,
  isClockBehind,
  type LicenseFacts,
  nodesAllowedBy,
  payloadOfDraft,
  phaseOfLicense,
  seenAfterImport,
  timelineOfLicense,
} from '../../machines/trust/license.rules.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const START_MS = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const SPAN_MS = 200 * DAY_MS;

const instant = fc.oneof(
  fc.integer({ min: START_MS, max: START_MS + SPAN_MS }),
  fc.integer({ min: START_MS, max: START_MS + 3 * LICENSE_CHECK_MAX_MS }),
);
const license: fc.Arbitrary<LicenseFacts> = fc
  .record({
    fromMs: instant,
    validMs: fc.oneof(fc.integer({ min: 1, max: SPAN_MS }), fc.constant(LICENSE_CHECK_MAX_MS)),
    graceMs: fc.oneof(fc.integer({ min: 0, max: SPAN_MS }), fc.constant(1)),
    issuedAgoMs: fc.integer({ min: 0, max: SPAN_MS }),
    maxProtectedNodes: fc.nat(20),
  })
  .map(({ fromMs, validMs, graceMs, issuedAgoMs, maxProtectedNodes }) => ({
    licenseId: 'l',
    customerId: 'c',
    workspaceId: 'w',
    plan: 'p',
    maxProtectedNodes,
    validFromMs: fromMs,
    validUntilMs: fromMs + validMs,
    graceUntilMs: fromMs + validMs + graceMs,
    issuedAtMs: fromMs - issuedAgoMs,
  }));
const events: fc.Arbitrary<LicenseEvent> = fc.oneof(
  fc.record({ type: fc.constant('license.imported' as const), license, seenMs: instant }),
  fc.record({ type: fc.constant('time.seen' as const), atMs: instant }),
);
const input = fc.record({ license: fc.option(license), seenMs: instant });

describeMachineLaws({ name: 'license', machine: licenseMachine, input, events });

describe('license: machine', () => {
  const timerOf = (state: string) => ({ type: `xstate.after.checkMs.license.${state}` });

  it('is always in the phase of its dates at the largest time seen', () => {
    fc.assert(
      fc.property(
        input,
        fc.array(fc.oneof(events, fc.constant('timer' as const)), { maxLength: 40 }),
        (start, steps) => {
          let [snapshot] = initialTransition(licenseMachine, start);
          for (const step of steps) {
            const before: LicenseContext = snapshot.context;
            const event = step === 'timer' ? timerOf(String(snapshot.value)) : step;
            [snapshot] = transition(licenseMachine, snapshot, event as LicenseEvent);
            const { license: held, seenMs } = snapshot.context;
            expect(snapshot.value).toBe(phaseOfLicense(held, seenMs));
            expect(snapshot.hasTag('limits-enrollment')).toBe(
              nodesAllowedBy(held, seenMs) !== null,
            );
            // Only an import may begin the time anew.
            if (step === 'timer' || step.type === 'time.seen') {
              expect(seenMs).toBeGreaterThanOrEqual(before.seenMs);
            }
          }
        },
      ),
    );
  });

  it('never lets time stand still while its end is ahead, even when nobody tells the time', () => {
    fc.assert(
      fc.property(license, (held) => {
        const seenMs = held.graceUntilMs - 3 * LICENSE_CHECK_MAX_MS;
        let [snapshot] = initialTransition(licenseMachine, { license: held, seenMs });
        let waits = 0;
        while (snapshot.value !== 'expired') {
          const event = timerOf(String(snapshot.value)) as unknown as LicenseEvent;
          [snapshot] = transition(licenseMachine, snapshot, event);
          waits += 1;
          expect(waits).toBeLessThan(10);
        }
        expect(snapshot.context.seenMs).toBe(held.graceUntilMs);
      }),
    );
  });
});

describe('license: rules', () => {
  it('always changes its phase in the very millisecond of each date', () => {
    fc.assert(
      fc.property(license, (one) => {
        const { validFromMs, validUntilMs, graceUntilMs } = one;
        expect(phaseOfLicense(one, validFromMs - 1)).toBe('pending');
        expect(phaseOfLicense(one, validFromMs)).toBe('valid');
        expect(phaseOfLicense(one, validUntilMs - 1)).toBe('valid');
        expect(phaseOfLicense(one, validUntilMs)).toBe(
          graceUntilMs === validUntilMs ? 'expired' : 'grace',
        );
        expect(phaseOfLicense(one, graceUntilMs)).toBe('expired');
        expect(nodesAllowedBy(one, graceUntilMs - 1)).toBeNull();
        expect(nodesAllowedBy(one, graceUntilMs)).toBe(one.maxProtectedNodes);
      }),
    );
  });

  it('never limits without a license', () => {
    expect(phaseOfLicense(null, START_MS)).toBe('absent');
    expect(nodesAllowedBy(null, START_MS)).toBeNull();
    expect(timelineOfLicense(null)).toEqual([]);
    expect(checkDelayMs(null, START_MS)).toBe(LICENSE_CHECK_MAX_MS);
  });

  it('always looks again no later than the next date, and never waits nothing', () => {
    fc.assert(
      fc.property(license, instant, (one, atMs) => {
        const delayMs = checkDelayMs(one, atMs);
        expect(delayMs).toBeGreaterThan(0);
        expect(delayMs).toBeLessThanOrEqual(LICENSE_CHECK_MAX_MS);
        expect(phaseOfLicense(one, atMs + delayMs - 1)).toBe(phaseOfLicense(one, atMs));
      }),
    );
  });

  it('always tells a timeline without a gap, in which one stretch is now', () => {
    fc.assert(
      fc.property(license, instant, (one, atMs) => {
        const stretches = timelineOfLicense(one);
        expect([stretches[0]?.fromMs, stretches.at(-1)?.untilMs]).toEqual([null, null]);
        stretches.slice(1).forEach(({ fromMs }, at) => {
          expect(fromMs).toBe(stretches[at]?.untilMs);
        });
        const current = stretches.filter(
          ({ fromMs, untilMs }) =>
            (fromMs === null || atMs >= fromMs) && (untilMs === null || atMs < untilMs),
        );
        expect(current.map(({ phase }) => phase)).toEqual([phaseOfLicense(one, atMs)]);
      }),
    );
  });

  it('never gives time back but to a license that was issued later', () => {
    fc.assert(
      fc.property(fc.option(license), license, instant, instant, (before, next, nowMs, seenMs) => {
        const after = seenAfterImport({ before, next }, { nowMs, seenMs });
        expect(after).toBeGreaterThanOrEqual(nowMs);
        const isNewer = before === null || next.issuedAtMs > before.issuedAtMs;
        if (!isNewer) expect(after).toBe(Math.max(nowMs, seenMs));
        else expect(after).toBe(Math.max(nowMs, next.issuedAtMs));
      }),
    );
  });

  it('always warns in grace, alarms after it, and says when the clock was set back', () => {
    fc.assert(
      fc.property(license, instant, instant, (one, nowMs, seenMs) => {
        const banners = bannersOfLicense(one, { nowMs, seenMs });
        const phase = phaseOfLicense(one, Math.max(nowMs, seenMs));
        const levelOf = (reason: string) => banners.find((one) => one.reason === reason)?.level;
        expect(levelOf('grace')).toBe(phase === 'grace' ? 'warning' : undefined);
        expect(levelOf('expired')).toBe(phase === 'expired' ? 'critical' : undefined);
        expect(levelOf('clock_behind') !== undefined).toBe(isClockBehind(nowMs, seenMs));
        if (levelOf('expired')) expect(banners[0]?.level).toBe('critical');
      }),
    );
    expect(isClockBehind(START_MS, START_MS + SKEW_TOLERATED_MS)).toBe(false);
    expect(isClockBehind(START_MS, START_MS + SKEW_TOLERATED_MS + 1)).toBe(true);
  });
});

describe('license: payload', () => {
  const draft = {
    customer_id: 'c',
    workspace_id: 'w',
    license_id: 'l',
    plan: 'p',
    max_protected_nodes: 3,
    valid_from: '2026-01-01T00:00:00Z',
    valid_until: '2027-01-01T00:00:00.500Z',
  };

  it('always has 30 days of grace and the present as its issue, unless it says otherwise', () => {
    const nowMs = Date.parse('2026-01-02T03:04:05.006Z');
    expect(payloadOfDraft(draft, nowMs)).toEqual({
      ...draft,
      grace_until: '2027-01-31T00:00:00.500Z',
      issued_at: '2026-01-02T03:04:05.006Z',
    });
    const own = { grace_until: '2027-01-02T00:00:00Z', issued_at: '2025-12-31T00:00:00Z' };
    expect(payloadOfDraft({ ...draft, ...own }, nowMs)).toEqual({ ...draft, ...own });
  });

  it('never has dates that are none or stand in the wrong order', () => {
    const placesOf = (more: object) => {
      const read = factsOfLicense({ ...payloadOfDraft(draft, START_MS - 300 * DAY_MS), ...more });
      return read.ok ? [] : (read.errors ?? []).map(({ pointer }) => pointer);
    };
    expect(placesOf({ issued_at: '2026-01-01T00:00:00Z' })).toEqual([]);
    expect(placesOf({ valid_from: '2026-02-30T00:00:00Z' })).toContain('/valid_from');
    expect(placesOf({ issued_at: '2026-06-30T23:59:60Z' })).toContain('/issued_at');
    expect(placesOf({ valid_until: '2025-01-01T00:00:00Z' })).toContain('/valid_until');
    expect(placesOf({ valid_until: draft.valid_from })).toContain('/valid_until');
    expect(placesOf({ grace_until: '2026-12-31T00:00:00Z' })).toEqual(['/grace_until']);
    expect(placesOf({ grace_until: draft.valid_until })).toEqual([]);
    expect(placesOf({ issued_at: draft.valid_until })).toEqual(['/issued_at']);
    const none = payloadOfDraft({ ...draft, valid_until: '2026-13-01T00:00:00Z' }, Number.NaN);
    expect(factsOfLicense(none).ok).toBe(false);
  });
});
