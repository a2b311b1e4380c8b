import { describe, expect, it } from 'vitest';
import { CLOCK_CHECK_INTERVAL_MS } from '../../limits.ts';
import {
  engineRegionOf,
  engineSeen,
  movedWithClock,
  type SensorContext,
  trustStateAt,
  untilStaleMs,
  untilWindowMs,
} from './sensor.rules.ts';
import { NOT_CONTAINED } from './sensor-containment.rules.ts';

const NOW_MS = 10_000;
const CONTEXT: SensorContext = {
  sensorId: 'sensor-1',
  nowMs: NOW_MS,
  knownSinceMs: 0,
  notAfterMs: null,
  revokedAtMs: null,
  lastHeartbeatAtMs: null,
  freshnessCheckAtMs: 0,
  streamOpen: false,
  reportedTrustState: null,
  reportedSinceMs: null,
  lastTrustErrorAtMs: null,
  lastConnectionErrorAtMs: null,
  containment: NOT_CONTAINED,
  windows: { recommendedMs: 300, dueMs: 100, trustErrorMs: 50, stalenessMs: 200 },
};

describe('sensor rules', () => {
  it.each([
    [null, 'trusted', Number.MAX_SAFE_INTEGER],
    [NOW_MS + 301, 'trusted', 1],
    [NOW_MS + 300, 'renewal_recommended', 0],
    [NOW_MS + 100, 'renewal_due', 0],
  ])('should with a certificate until %s be %s, %d ms before its window', (end, state, untilMs) => {
    const context = { ...CONTEXT, notAfterMs: end };
    expect(trustStateAt(context)).toBe(state);
    expect(untilWindowMs(context, 300)).toBe(untilMs);
  });

  it('should count silence from the last heartbeat, or from when the sensor became known', () => {
    expect(untilStaleMs({ ...CONTEXT, lastHeartbeatAtMs: NOW_MS - 50 })).toBe(150);
    expect(untilStaleMs({ ...CONTEXT, knownSinceMs: NOW_MS - 20 })).toBe(180);
    expect(untilStaleMs(CONTEXT)).toBe(0);
  });

  it('should wait for no longer than the window, even when the last heartbeat is in the future', () => {
    expect(untilStaleMs({ ...CONTEXT, lastHeartbeatAtMs: NOW_MS + 86_400_000 })).toBe(200);
  });

  it.each([
    ['a heartbeat before a forward jump', -3_620_000, 3_600_000, 'moved'],
    ['the last heartbeat before a forward jump', -3_600_500, 3_600_000, 'moved'],
    ['a heartbeat between a forward jump and its notice', -500, 3_600_000, 'kept'],
    ['a heartbeat before a backward jump', 3_590_000, -3_600_000, 'moved'],
    ['an old heartbeat before a small backward jump', -CLOCK_CHECK_INTERVAL_MS, -2_000, 'moved'],
    ['a heartbeat between a backward jump and its notice', -500, -3_600_000, 'kept'],
    ['a heartbeat at the notice of a backward jump', 0, -3_600_000, 'kept'],
  ])('should know %s', (_what, heardMs, byMs, expected) => {
    const heardAtMs = NOW_MS + heardMs;
    const moved = expected === 'moved' ? heardAtMs + byMs : heardAtMs;
    expect(movedWithClock(heardAtMs, { atMs: NOW_MS, byMs })).toBe(moved);
  });

  it('should show an engine as unknown, running, degraded or down', () => {
    expect(engineRegionOf(null)).toBe('unknown');
    expect(engineRegionOf('running')).toBe('running');
    expect(engineRegionOf('failed')).toBe('down');
    expect(engineRegionOf('degraded')).toBe('degraded');
  });

  it('should call an engine degraded that runs without what every engine is to see', () => {
    const hooks = [{ missing: undefined }, { missing: true }];
    expect(engineSeen('running', hooks)).toBe('degraded');
    expect(engineSeen('restarting', hooks)).toBe('restarting');
    expect(engineSeen('running', hooks.slice(0, 1))).toBe('running');
    expect(engineSeen('running')).toBe('running');
  });
});
