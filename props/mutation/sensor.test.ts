// The per-sensor machine, transition by transition: every region as a table of what leads where, and what is noted.
import { describe, expect, it } from 'vitest';
import { type SensorEvent, sensorMachine } from '../../machines/console/fleet/sensor.machine.ts';
import type { SensorInput } from '../../machines/console/fleet/sensor.rules.ts';
import { NOT_CONTAINED } from '../../machines/console/fleet/sensor-containment.rules.ts';
import type { ContainmentReport } from '../../machines/wire/policy.ts';
import { type Driven, drive } from '../models/driver.ts';

const START_MS = 1_000_000;
const WINDOWS = { recommendedMs: 3_000, dueMs: 1_000, trustErrorMs: 50, stalenessMs: 200 };
const INPUT: SensorInput = {
  sensorId: 'sensor-1',
  nowMs: START_MS,
  knownSinceMs: START_MS - 10,
  notAfterMs: START_MS + 10_000,
  revokedAtMs: null,
  lastHeartbeatAtMs: START_MS,
  reportedTrustState: 'renewal_due',
  lastTrustErrorAtMs: START_MS - 1,
  lastConnectionErrorAtMs: START_MS - 2,
  engineState: 'running',
  windows: WINDOWS,
};
type Sensor = Driven<typeof sensorMachine>;
type Region = 'trust' | 'freshness' | 'stream' | 'engine' | 'policy' | 'containment';

const begin = (over: Partial<SensorInput> = {}): Sensor =>
  drive(sensorMachine, { ...INPUT, ...over }, START_MS);
const tell = (sensor: Sensor, event: SensorEvent) => sensor.send(event);
const at = (sensor: Sensor, region: Region) => sensor.snapshot().value[region];
const context = (sensor: Sensor) => sensor.snapshot().context;
const beat = (more: Partial<Extract<SensorEvent, { type: 'heartbeat.received' }>> = {}) =>
  ({
    type: 'heartbeat.received',
    atMs: START_MS,
    reportedTrustState: 'trusted',
    lastTrustErrorAtMs: null,
    lastConnectionErrorAtMs: null,
    engineState: 'running',
    ...more,
  }) satisfies SensorEvent;
const atMs = START_MS;
const opened: SensorEvent = { type: 'stream.opened', atMs };
const closed: SensorEvent = { type: 'stream.closed', atMs, reason: 'lost' };
const order = (
  wanted: 'contained' | 'released',
  orderId: string,
  untilMs: number | null = null,
): SensorEvent => ({
  ...{ type: 'containment.ordered', atMs },
  order: { orderId, wanted, reason: '', untilMs },
});
const said = (
  state: ContainmentReport['state'],
  orderId: string | null,
  failure: string | null = null,
) => ({ type: 'containment.reported' as const, atMs, report: { orderId, state, failure } });

describe('sensor: beginning', () => {
  it('should know what it is given, and that it has no stream', () => {
    const { engineState: _, ...given } = { ...INPUT, containment: NOT_CONTAINED };
    const sensor = begin();
    expect(context(sensor)).toEqual({
      ...given,
      reportedSinceMs: START_MS,
      freshnessCheckAtMs: START_MS + WINDOWS.stalenessMs,
      streamOpen: false,
    });
    expect(sensor.snapshot().value).toEqual({
      trust: 'trusted',
      freshness: 'fresh',
      stream: 'closed',
      engine: 'unknown',
      policy: 'unassigned',
      containment: 'released',
    });
  });

  it.each([
    [null, null, 'trusted', true],
    [3_001, null, 'trusted', true],
    [3_000, null, 'renewal_recommended', true],
    [1_001, null, 'renewal_recommended', true],
    [1_000, null, 'renewal_due', true],
    [-5, null, 'renewal_due', true],
    [10_000, START_MS, 'revoked', false],
    [500, START_MS, 'revoked', false],
  ])('should with %s ms left and revocation at %s be %s', (leftMs, revokedAtMs, trust, accepts) => {
    const sensor = begin({ notAfterMs: leftMs === null ? null : START_MS + leftMs, revokedAtMs });
    expect(at(sensor, 'trust')).toBe(trust);
    expect(sensor.snapshot().hasTag('accepts-requests')).toBe(accepts);
  });
});

describe('sensor: trust', () => {
  it('should pass through both windows by its own timers, noting their instants', () => {
    const sensor = begin();
    sensor.advance(6_999);
    expect(at(sensor, 'trust')).toBe('trusted');
    sensor.advance(1);
    expect([at(sensor, 'trust'), context(sensor).nowMs]).toEqual([
      'renewal_recommended',
      START_MS + 7_000,
    ]);
    sensor.advance(2_000);
    expect([at(sensor, 'trust'), context(sensor).nowMs]).toEqual(['renewal_due', START_MS + 9_000]);
  });

  it('should never move its time back when a window opens', () => {
    const sensor = begin();
    tell(sensor, beat({ atMs: START_MS + 8_500 }));
    sensor.send({ type: 'xstate.after.untilRecommendedMs.sensor.trust.trusted' });
    expect(context(sensor).nowMs).toBe(START_MS + 8_500);
  });

  it('should judge anew with a new certificate and with a jump of the clock', () => {
    const sensor = begin({ notAfterMs: START_MS + 500 });
    const notAfterMs = START_MS + 20_000;
    tell(sensor, { type: 'certificate.changed', atMs: START_MS + 7, notAfterMs });
    expect(context(sensor)).toMatchObject({ nowMs: START_MS + 7, notAfterMs });
    expect(at(sensor, 'trust')).toBe('trusted');
    tell(sensor, { type: 'clock.jumped', atMs: START_MS + 17_500, byMs: 17_500 });
    expect(at(sensor, 'trust')).toBe('renewal_recommended');
    expect(context(sensor).nowMs).toBe(START_MS + 17_500);
  });

  it('should be revoked for good at the instant of the first revocation', () => {
    const sensor = begin();
    tell(sensor, { type: 'sensor.revoked', atMs: START_MS + 3, reason: 'lost' });
    // The instant may be one of another Console's clock: it is no time of this one.
    expect(context(sensor)).toMatchObject({ nowMs: START_MS, revokedAtMs: START_MS + 3 });
    tell(sensor, { type: 'sensor.revoked', atMs: START_MS + 9, reason: 'again' });
    tell(sensor, { type: 'certificate.changed', atMs, notAfterMs: 1 });
    expect(context(sensor)).toMatchObject({
      revokedAtMs: START_MS + 3,
      notAfterMs: INPUT.notAfterMs,
    });
    expect(at(sensor, 'trust')).toBe('revoked');
    expect(sensor.snapshot().hasTag('accepts-requests')).toBe(false);
  });
});

describe('sensor: freshness', () => {
  it('should await the first heartbeat for the window that began when it became known', () => {
    const sensor = begin({ lastHeartbeatAtMs: null, knownSinceMs: START_MS - 150 });
    sensor.advance(49);
    expect(at(sensor, 'freshness')).toBe('awaiting');
    sensor.advance(1);
    expect([at(sensor, 'freshness'), context(sensor).nowMs]).toEqual(['stale', START_MS + 50]);
  });

  it.each([
    ['heartbeat', beat({ atMs: START_MS + 5 })],
    ['stream', { ...opened, atMs: START_MS + 5 }],
  ])('should be fresh with the first %s, awaiting or stale', (_, event) => {
    for (const knownSinceMs of [START_MS, 0]) {
      const sensor = begin({ lastHeartbeatAtMs: null, knownSinceMs });
      sensor.advance(0);
      expect(at(sensor, 'freshness')).toBe(knownSinceMs === 0 ? 'stale' : 'awaiting');
      tell(sensor, event);
      expect([at(sensor, 'freshness'), context(sensor).nowMs]).toEqual(['fresh', START_MS + 5]);
    }
  });

  it('should note all that a heartbeat reports', () => {
    const reported = {
      reportedTrustState: 'renewal_recommended',
      lastTrustErrorAtMs: 11,
      lastConnectionErrorAtMs: 12,
    } as const;
    for (const lastHeartbeatAtMs of [START_MS, START_MS - 200, null]) {
      const sensor = begin({ lastHeartbeatAtMs });
      sensor.advance(0);
      tell(sensor, beat({ ...reported, atMs: START_MS + 40 }));
      expect(context(sensor)).toMatchObject({
        ...reported,
        nowMs: START_MS + 40,
        lastHeartbeatAtMs: START_MS + 40,
      });
    }
  });

  it('should look again from the newest heartbeat with one timer a window', () => {
    const sensor = begin();
    sensor.advance(60);
    tell(sensor, beat({ atMs: START_MS + 60 }));
    sensor.advance(140);
    expect(at(sensor, 'freshness')).toBe('fresh');
    expect(context(sensor)).toMatchObject({
      nowMs: START_MS + 200,
      freshnessCheckAtMs: START_MS + 260,
    });
    sensor.advance(59);
    expect(at(sensor, 'freshness')).toBe('fresh');
    sensor.advance(1);
    expect([at(sensor, 'freshness'), context(sensor).nowMs]).toEqual(['stale', START_MS + 260]);
  });

  it('should be stale when the last sign of life is exactly one window old', () => {
    const sensor = begin();
    sensor.advance(200);
    expect([at(sensor, 'freshness'), context(sensor).nowMs]).toEqual(['stale', START_MS + 200]);
  });

  it('should hold fresh with an open stream and count the window from the last heartbeat', () => {
    const sensor = begin();
    tell(sensor, opened);
    sensor.advance(200);
    expect([at(sensor, 'freshness'), context(sensor).nowMs]).toEqual(['fresh', START_MS + 200]);
    tell(sensor, { ...closed, atMs: START_MS + 150 });
    expect(context(sensor)).toMatchObject({
      nowMs: START_MS + 150,
      freshnessCheckAtMs: START_MS + 200,
    });
    sensor.advance(49);
    expect(at(sensor, 'freshness')).toBe('fresh');
    sensor.advance(1);
    expect(at(sensor, 'freshness')).toBe('stale');
  });

  it('should move every sign of life with a jump of the clock', () => {
    for (const lastHeartbeatAtMs of [START_MS, null]) {
      const sensor = begin({ lastHeartbeatAtMs });
      tell(sensor, { type: 'clock.jumped', atMs: START_MS + 500, byMs: 500 });
      expect(at(sensor, 'freshness')).toBe(lastHeartbeatAtMs === null ? 'awaiting' : 'fresh');
      expect(context(sensor)).toMatchObject({
        nowMs: START_MS + 500,
        knownSinceMs: INPUT.knownSinceMs + 500,
        lastHeartbeatAtMs: lastHeartbeatAtMs === null ? null : lastHeartbeatAtMs + 500,
      });
    }
  });
});

describe('sensor: stream and engine', () => {
  it('should follow the stream', () => {
    const sensor = begin();
    tell(sensor, closed);
    expect([at(sensor, 'stream'), context(sensor).streamOpen]).toEqual(['closed', false]);
    tell(sensor, opened);
    expect([at(sensor, 'stream'), context(sensor).streamOpen]).toEqual(['open', true]);
    tell(sensor, closed);
    expect([at(sensor, 'stream'), context(sensor).streamOpen]).toEqual(['closed', false]);
  });

  it('should show the engine that the latest heartbeat reports', () => {
    const sensor = begin();
    for (const state of [
      'running',
      'failed',
      'degraded',
      'starting',
      'running',
      'stopped',
    ] as const) {
      tell(sensor, beat({ engineState: state }));
      expect(at(sensor, 'engine')).toBe(['running', 'degraded'].includes(state) ? state : 'down');
    }
  });
});

describe('sensor: policy and containment', () => {
  const STATES = ['unassigned', 'pending', 'in_force', 'rejected', 'failed'] as const;

  it('should be in the policy state that is reported, and pending once one is assigned', () => {
    for (const from of STATES) {
      for (const state of STATES) {
        const sensor = begin();
        tell(sensor, { type: 'policy.reported', atMs, state: from });
        tell(sensor, { type: 'policy.reported', atMs, state });
        expect(at(sensor, 'policy')).toBe(state);
        tell(sensor, { type: 'policy.assigned', atMs });
        expect(at(sensor, 'policy')).toBe('pending');
      }
    }
  });

  const IDS = ['1', '2', '3'] as const;
  it('should show what is ordered until the node has said something of that order', () => {
    const sensor = begin();
    const steps: readonly (readonly [SensorEvent, string, boolean])[] = [
      [order('contained', '2'), 'containing', false],
      [said('released', null), 'containing', false],
      [said('containing', '2'), 'containing', false],
      [said('contained', '2'), 'contained', true],
      // Overtaken on its way.
      [order('released', '1'), 'contained', true],
      [order('contained', '3'), 'containing', true],
      [said('contained', '3'), 'contained', true],
      [order('released', '4'), 'releasing', true],
      [said('contained', '3'), 'releasing', true],
      [said('failed', '4', 'no rights'), 'failed', true],
      [said('releasing', '4'), 'releasing', true],
      [said('released', '4'), 'released', false],
      [said('failed', '4', 'no rights'), 'failed', false],
    ];
    for (const [event, state, isContained] of steps) {
      tell(sensor, event);
      expect(at(sensor, 'containment')).toBe(state);
      expect(context(sensor).containment.isContained).toBe(isContained);
    }
  });

  it('should hold a node contained by its word alone, and give up an order that ended untold', () => {
    for (const id of IDS) {
      const sensor = begin();
      tell(sensor, said('contained', id));
      expect(at(sensor, 'containment')).toBe('contained');
    }
    const late = begin();
    tell(late, order('contained', '1', START_MS));
    expect(at(late, 'containment')).toBe('released');
    const waiting = begin();
    tell(waiting, order('contained', '1', START_MS + 1_000));
    expect(at(waiting, 'containment')).toBe('containing');
    waiting.advance(999);
    expect(at(waiting, 'containment')).toBe('containing');
    waiting.advance(1);
    expect(at(waiting, 'containment')).toBe('released');
  });

  it('should let a node go that an older order holds, when the newer one ended untold', () => {
    for (const state of ['contained', 'containing', 'failed', 'releasing'] as const) {
      const sensor = begin();
      tell(sensor, order('contained', '1'));
      tell(sensor, said(state, '1'));
      tell(sensor, order('contained', '2', START_MS + 1_000));
      expect(at(sensor, 'containment')).toBe('containing');
      sensor.advance(1_000);
      expect(at(sensor, 'containment')).toBe('releasing');
      // It was held when it was heard last, and has no word for it now.
      tell(sensor, { ...said(state, '1'), atMs: START_MS + 1_000 });
      expect(at(sensor, 'containment')).toBe('releasing');
      tell(sensor, said('released', '2'));
      expect(at(sensor, 'containment')).toBe('released');
    }
    const known = begin({ containment: { order: null, report: null, isContained: true } });
    tell(known, order('contained', '2', START_MS));
    expect(at(known, 'containment')).toBe('releasing');
  });
});
