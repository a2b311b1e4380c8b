import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type SensorEvent,
  type SensorSnapshot,
  sensorMachine,
} from '../../machines/console/fleet/sensor.machine.ts';
import {
  healthFactsOf,
  type SensorInput,
  trustStateAt,
} from '../../machines/console/fleet/sensor.rules.ts';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import { trustHealth } from '../../machines/trust/health.rules.ts';
import { ENGINE_STATES, TRUST_STATES, type WireTrustState } from '../../machines/wire/heartbeat.ts';
import { CONTAINMENT_STATES } from '../../machines/wire/policy.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const HOUR_MS = 3_600_000;
const START_MS = 1_800_000_000_000;
const DAY_MS = 24 * HOUR_MS;
const windows = {
  recommendedMs: DEFAULT_INTERVALS.RENEWAL_RECOMMENDED_MS,
  dueMs: DEFAULT_INTERVALS.RENEWAL_DUE_MS,
  trustErrorMs: DEFAULT_INTERVALS.TRUST_ERROR_WINDOW_MS,
  stalenessMs: DEFAULT_INTERVALS.STALENESS_WINDOW_MS,
};

const atMs = fc.integer({ min: START_MS, max: START_MS + 800 * HOUR_MS });
const someTime = fc.option(atMs, { nil: null });
const input: fc.Arbitrary<SensorInput> = fc.record({
  sensorId: fc.uuid(),
  nowMs: fc.constant(START_MS),
  knownSinceMs: fc.constant(START_MS),
  notAfterMs: someTime,
  revokedAtMs: fc.option(fc.constant(START_MS), { nil: null, freq: 9 }),
  lastHeartbeatAtMs: fc.option(fc.constant(START_MS), { nil: null }),
  reportedTrustState: fc.option(fc.constantFrom(...TRUST_STATES), { nil: null }),
  lastTrustErrorAtMs: someTime,
  lastConnectionErrorAtMs: someTime,
  engineState: fc.option(fc.constantFrom(...ENGINE_STATES, 'degraded' as const), { nil: null }),
  windows: fc.constant(windows),
});
const heartbeat = fc.record({
  type: fc.constant('heartbeat.received' as const),
  atMs,
  reportedTrustState: fc.constantFrom(...TRUST_STATES),
  lastTrustErrorAtMs: someTime,
  lastConnectionErrorAtMs: someTime,
  engineState: fc.constantFrom(...ENGINE_STATES, 'degraded' as const),
});
const orderId = fc.constantFrom('01', '02', '03');
const order = fc.record({
  orderId,
  wanted: fc.constantFrom('contained' as const, 'released' as const),
  reason: fc.string(),
  untilMs: someTime,
});
const report = fc.record({
  orderId: fc.option(orderId, { nil: null }),
  state: fc.constantFrom(...CONTAINMENT_STATES),
  failure: fc.option(fc.string(), { nil: null }),
});
const others = fc.oneof(
  fc.record({ type: fc.constant('stream.opened' as const), atMs }),
  fc.record({ type: fc.constant('stream.closed' as const), atMs, reason: fc.string() }),
  fc.record({ type: fc.constant('certificate.changed' as const), atMs, notAfterMs: atMs }),
  fc.record({
    type: fc.constant('clock.jumped' as const),
    atMs,
    byMs: fc.integer({ min: -HOUR_MS, max: HOUR_MS }),
  }),
  fc.record({
    type: fc.constant('windows.changed' as const),
    atMs,
    dueMs: fc.integer({ min: HOUR_MS, max: windows.recommendedMs - 1 }),
  }),
  fc.record({ type: fc.constant('policy.assigned' as const), atMs }),
  fc.record({
    type: fc.constant('policy.reported' as const),
    atMs,
    state: fc.constantFrom(
      'pending',
      'in_force',
      'rejected',
      'failed',
      'unassigned',
    ) as fc.Arbitrary<'pending'>,
  }),
  fc.record({ type: fc.constant('containment.ordered' as const), atMs, order }),
  fc.record({ type: fc.constant('containment.reported' as const), atMs, report }),
);
const revoked = fc.record({
  type: fc.constant('sensor.revoked' as const),
  atMs,
  reason: fc.string(),
});
const events = fc.oneof(
  { weight: 3, arbitrary: heartbeat },
  { weight: 8, arbitrary: others },
  { weight: 1, arbitrary: revoked },
) as fc.Arbitrary<SensorEvent>;

describeMachineLaws({ name: 'sensor', machine: sensorMachine, input, events });

const healthy: SensorInput = {
  sensorId: '0193-sensor',
  nowMs: START_MS,
  knownSinceMs: START_MS,
  notAfterMs: START_MS + 720 * HOUR_MS,
  revokedAtMs: null,
  lastHeartbeatAtMs: START_MS,
  reportedTrustState: 'trusted',
  lastTrustErrorAtMs: null,
  lastConnectionErrorAtMs: null,
  engineState: 'running',
  windows,
};
const begin = (over: Partial<SensorInput> = {}): SensorSnapshot =>
  initialTransition(sensorMachine, { ...healthy, ...over })[0];
const step = (snapshot: SensorSnapshot, event: SensorEvent | { type: string }): SensorSnapshot =>
  transition(sensorMachine, snapshot, event as SensorEvent)[0];
const timer = (region: string, state: string, delay: string) => ({
  type: `xstate.after.${delay}.sensor.${region}.${state}`,
});

describe('sensor: trust', () => {
  it('never leaves revoked', () => {
    fc.assert(
      fc.property(
        input,
        fc.array(events, { maxLength: 30 }),
        revoked,
        fc.array(events, { maxLength: 30 }),
        (given, before, revocation, after) => {
          let snapshot = before.reduce(step, begin(given));
          snapshot = step(snapshot, revocation);
          const revokedAtMs = snapshot.context.revokedAtMs;
          for (const event of after) {
            snapshot = step(snapshot, event);
            expect(snapshot.value.trust).toBe('revoked');
            expect(snapshot.context.revokedAtMs).toBe(revokedAtMs);
          }
        },
      ),
    );
  });

  it('always equals the rule for the dates after any event of the certificate', () => {
    fc.assert(
      fc.property(input, atMs, atMs, (given, nowMs, notAfterMs) => {
        const snapshot = step(begin({ ...given, revokedAtMs: null }), {
          type: 'certificate.changed',
          atMs: nowMs,
          notAfterMs,
        });
        expect(snapshot.value.trust).toBe(trustStateAt(snapshot.context));
      }),
    );
  });

  it('moves at exactly 72 h and 24 h before the end', () => {
    const [first, actions] = initialTransition(sensorMachine, healthy);
    expect(first.value.trust).toBe('trusted');
    expect(JSON.stringify(actions)).toContain(String((720 - 72) * HOUR_MS));
    const recommended = step(first, timer('trust', 'trusted', 'untilRecommendedMs'));
    expect(recommended.value.trust).toBe('renewal_recommended');
    expect(recommended.context.nowMs).toBe(START_MS + (720 - 72) * HOUR_MS);
    const due = step(recommended, timer('trust', 'renewal_recommended', 'untilDueMs'));
    expect(due.value.trust).toBe('renewal_due');
    expect(due.context.nowMs).toBe(START_MS + (720 - 24) * HOUR_MS);
  });

  it('is judged anew, by the time of the change, when an operator moves the window', () => {
    const atMs = START_MS + (720 - 48) * HOUR_MS;
    const before = step(begin(), timer('trust', 'trusted', 'untilRecommendedMs'));
    const moved = step(before, { type: 'windows.changed', atMs, dueMs: 50 * HOUR_MS });
    expect(moved.value.trust).toBe('renewal_due');
    expect(moved.context.nowMs).toBe(atMs);
    expect(moved.context.windows).toEqual({ ...windows, dueMs: 50 * HOUR_MS });
    const back = step(moved, { type: 'windows.changed', atMs, dueMs: 24 * HOUR_MS });
    expect(back.value.trust).toBe('renewal_recommended');
  });

  it('is judged anew, by the new time, when the clock jumped', () => {
    const atMs = START_MS + (720 - 12) * HOUR_MS;
    const jumped = step(begin(), { type: 'clock.jumped', atMs, byMs: 708 * HOUR_MS });
    expect(jumped.value.trust).toBe('renewal_due');
  });
});

describe('sensor: freshness', () => {
  const fired = timer('freshness', 'fresh', 'untilStaleMs');

  it('is stale after the window of silence', () => {
    expect(step(begin(), fired).value.freshness).toBe('stale');
  });

  it('looks again from the newest heartbeat instead of going stale', () => {
    const beaten = step(begin(), { ...sampleHeartbeat, atMs: START_MS + 60_000 });
    const [next, actions] = transition(sensorMachine, beaten, fired as never);
    expect(next.value.freshness).toBe('fresh');
    expect(JSON.stringify(actions)).toContain('60000');
  });

  it('is stale after the window of silence although its last heartbeat was kept under a later date', () => {
    const kept = begin({ lastHeartbeatAtMs: START_MS + 26 * HOUR_MS });
    expect(kept.value.freshness).toBe('fresh');
    expect(step(kept, fired).value.freshness).toBe('stale');
    expect(healthOf(kept, START_MS + windows.stalenessMs).health).toBe('degraded');
  });

  it('never goes stale while a stream is open, and at once when it closes after the window', () => {
    const open = step(begin(), { type: 'stream.opened', atMs: START_MS + 1 });
    const held = step(open, fired);
    expect(held.value.freshness).toBe('fresh');
    const closed = step(held, { type: 'stream.closed', atMs: START_MS + 200_000, reason: 'lost' });
    expect(step(closed, fired).value.freshness).toBe('stale');
  });

  it('is stale after two windows of silence at most, whatever a clock said that was wrong and right again unnoticed', () => {
    fc.assert(
      fc.property(fc.integer({ min: -DAY_MS, max: DAY_MS }), fc.boolean(), (byMs, isHeartbeat) => {
        const atMs = START_MS + byMs;
        const open = step(begin(), { type: 'stream.opened', atMs: START_MS });
        const closed = step(open, { type: 'stream.closed', atMs, reason: 'lost' });
        const last = isHeartbeat ? step(begin(), { ...sampleHeartbeat, atMs }) : closed;
        expect(step(step(last, fired), fired).value.freshness).toBe('stale');
      }),
    );
  });

  it('is not moved by a jump of the wall clock', () => {
    const jumped = step(begin(), { type: 'clock.jumped', atMs: START_MS + HOUR_MS, byMs: HOUR_MS });
    expect(jumped.value.freshness).toBe('fresh');
    expect(healthOf(jumped, START_MS + HOUR_MS).because).toEqual([]);
  });
});

describe('sensor: health', () => {
  it('is always the rule of its facts, with a reason for everything but healthy', () => {
    fc.assert(
      fc.property(input, fc.array(events, { maxLength: 20 }), atMs, (given, happened, nowMs) => {
        const { health, because } = healthOf(happened.reduce(step, begin(given)), nowMs);
        expect(because.length === 0).toBe(health === 'healthy');
      }),
    );
  });

  it('tells a disagreement since the first heartbeat of those that report it in a row', () => {
    const beat = (seconds: number, reportedTrustState: WireTrustState): SensorEvent => ({
      ...{ ...sampleHeartbeat, atMs: START_MS + seconds * 1_000 },
      reportedTrustState,
    });
    const beats = [beat(1, 'trusted'), beat(2, 'renewal_due'), beat(3, 'renewal_due')];
    const told = healthOf(beats.reduce(step, begin()), START_MS + 3_000).because;
    expect(told).toEqual([
      {
        ...{ code: 'trust_state_disagrees', sinceMs: START_MS + 2_000 },
        facts: { reported_trust_state: 'renewal_due', console_trust_state: 'trusted' },
      },
    ]);
  });

  it('puts revoked over due over recommended over degraded', () => {
    const worst = begin({ notAfterMs: START_MS + 1, reportedTrustState: 'trust_revoked' });
    expect(
      healthOf(step(worst, { type: 'sensor.revoked', atMs: START_MS, reason: '' }), START_MS)
        .health,
    ).toBe('revoked');
    expect(healthOf(worst, START_MS).health).toBe('renewal_due');
    expect(healthOf(begin({ notAfterMs: START_MS + 72 * HOUR_MS }), START_MS).health).toBe(
      'renewal_recommended',
    );
    expect(healthOf(begin({ reportedTrustState: 'renewal_due' }), START_MS).health).toBe(
      'degraded',
    );
    expect(
      healthOf(begin({ lastTrustErrorAtMs: START_MS }), START_MS + 15 * 60_000 - 1).health,
    ).toBe('renewal_due');
    expect(
      healthOf(
        step(begin(), {
          ...sampleHeartbeat,
          atMs: START_MS + 15 * 60_000,
          lastTrustErrorAtMs: START_MS,
        }),
        START_MS + 15 * 60_000,
      ).health,
    ).toBe('healthy');
  });
});

const sampleHeartbeat = {
  type: 'heartbeat.received' as const,
  atMs: START_MS,
  reportedTrustState: 'trusted' as const,
  lastTrustErrorAtMs: null,
  lastConnectionErrorAtMs: null,
  engineState: 'running' as const,
};

function healthOf(snapshot: SensorSnapshot, nowMs: number) {
  return trustHealth(healthFactsOf(snapshot.context), windows, nowMs);
}
