// A session ends by its time, by disuse, or by somebody; it never wakes up again, and every step up in trust gives it a
// new secret. invariant: I18
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sessionEndOf, sessionStateOf } from '../../machines/console/access/session.rules.ts';
import { SESSION_PARTIAL_MS } from '../../machines/limits.ts';
import { drive } from '../models/driver.ts';
import {
  type SessionEvent,
  type SessionInput,
  sessionMachine,
} from '../models/machines/session.machine.ts';
import { describeMachineLaws } from './laws.ts';

const START_MS = 1_800_000_000_000;
const stage = fc.constantFrom('partial' as const, 'full' as const);
const idleMs = fc.integer({ min: 1_000, max: 3_600_000 });
const input: fc.Arbitrary<SessionInput> = fc
  .record({ stage, idleMs, more: fc.integer({ min: 0, max: 86_400_000 }) })
  .map(({ stage: at, idleMs: idle, more }) => ({
    ...{ stage: at, atMs: START_MS, idleMs: idle, lifetimeMs: idle + more },
  }));
const atMs = fc.integer({ min: START_MS, max: START_MS + 100_000_000 });
const events: fc.Arbitrary<SessionEvent> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('session.used' as const), atMs }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('factor.shown' as const), atMs }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('password.changed' as const), atMs }) },
  { weight: 1, arbitrary: fc.constant({ type: 'session.ended' as const }) },
);

describeMachineLaws({ name: 'session', machine: sessionMachine, input, events });

describe('session', () => {
  it('never lives longer than its lifetime, however busy it is', () => {
    fc.assert(
      fc.property(input, fc.array(fc.integer({ min: 1, max: 600_000 })), (one, pauses) => {
        const real = drive(sessionMachine, one, START_MS);
        for (const pause of pauses) {
          real.advance(pause);
          real.send({ type: 'session.used', atMs: real.nowMs() } as never);
          const { status, context } = real.snapshot();
          if (status === 'active') expect(real.nowMs()).toBeLessThan(context.expiresAtMs);
        }
        real.advance(one.lifetimeMs);
        expect(real.snapshot().status).toBe('done');
      }),
    );
  });

  it('always ends after its idle time, and never before while it is used', () => {
    fc.assert(
      fc.property(input, (one) => {
        const real = drive(sessionMachine, { ...one, stage: 'full' }, START_MS);
        const short = Math.floor(one.idleMs / 2);
        real.advance(short);
        real.send({ type: 'session.used', atMs: real.nowMs() } as never);
        real.advance(Math.min(one.idleMs, one.lifetimeMs - short) - 1);
        expect(real.snapshot().status).toBe('active');
        real.advance(1);
        expect(['idle_expired', 'expired']).toContain(real.snapshot().value);
      }),
    );
  });

  it('always gets a new secret with a factor, and only then is full', () => {
    const lifetimeMs = 10 * SESSION_PARTIAL_MS;
    const given = { stage: 'partial', atMs: START_MS, idleMs: lifetimeMs, lifetimeMs } as const;
    const real = drive(sessionMachine, given, START_MS);
    expect(real.snapshot()).toMatchObject({ value: { alive: 'partial' }, context: { secrets: 1 } });
    real.advance(SESSION_PARTIAL_MS - 1);
    real.send({ type: 'factor.shown', atMs: real.nowMs() } as never);
    expect(real.snapshot()).toMatchObject({
      value: { alive: 'full' },
      context: { secrets: 2, expiresAtMs: real.nowMs() + lifetimeMs },
    });
    expect(real.takeEffects().map(({ params }) => params)).toContainEqual({
      ...{ type: 'secret.changed', secrets: 2 },
    });
    const late = drive(sessionMachine, given, START_MS);
    late.advance(SESSION_PARTIAL_MS);
    expect(late.snapshot().value).toBe('expired');
  });

  it('always agrees with the rule that is asked on every request', () => {
    fc.assert(
      fc.property(input, fc.nat(100_000_000), fc.boolean(), (one, laterMs, isEnded) => {
        const real = drive(sessionMachine, one, START_MS);
        if (isEnded) real.send({ type: 'session.ended' } as never);
        real.advance(laterMs);
        const { value } = real.snapshot();
        const row = {
          ...{ stage: one.stage, lastSeenAtMs: START_MS, endedAtMs: isEnded ? START_MS : null },
          expiresAtMs: sessionEndOf(one.stage, { ...one, nowMs: START_MS }),
        };
        const state = sessionStateOf(row, { nowMs: START_MS + laterMs, idleMs: one.idleMs });
        const told = typeof value === 'string' ? value : value.alive;
        // Both over: whichever came first ended the machine; the rule names the harder end.
        if (told === 'idle_expired') expect(['idle_expired', 'expired']).toContain(state);
        else expect(state).toBe(told);
      }),
    );
  });
});
