import { describe, expect, it } from 'vitest';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import type { SensorRow } from '../../storage/ports/fleet/sensor-registry.ts';
import type { TransitionRow } from '../../storage/ports/telemetry/event-store.ts';
import { createInspectionFeed } from '../runtime/inspection-feed.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createCrashLog, createSupervisor } from '../runtime/supervisor.ts';
import { createWheelClock } from '../runtime/wheel-clock.ts';
import { createFleetLiveView } from './fleet-live-view.ts';
import { createSensorDirectory, sensorInputOf } from './sensor.actor.ts';
import { startTransitionRecorder } from './transition-recorder.ts';

const START_MS = 1_800_000_000_000;
const row: SensorRow = {
  sensorId: 'a',
  nodeName: 'node-a',
  flavor: 'standard',
  declaredRole: null,
  labels: {},
  system: { os_name: 'x', os_version: '1', architecture: 'x64', kernel_version: '6' },
  bootId: 'b',
  sensorVersion: '0.1.0',
  flavorMismatch: false,
  enrolledAtMs: START_MS,
  revokedAtMs: null,
  revokedReason: null,
  lastHeartbeatAtMs: null,
  currentNotAfterMs: START_MS + 720 * 3_600_000,
  facts: null,
};
const heartbeat = (atMs: number, trustErrorAtMs: number | null = null) => ({
  type: 'heartbeat.received' as const,
  atMs,
  reportedTrustState: 'trusted' as const,
  lastTrustErrorAtMs: trustErrorAtMs,
  lastConnectionErrorAtMs: null,
  engineState: 'running' as const,
});

function fleet() {
  let nowMs = START_MS;
  const clock = createWheelClock();
  const feed = createInspectionFeed();
  const now = () => nowMs;
  const liveView = createFleetLiveView({
    now,
    snapshotOf: (id) => {
      const view = directory.ask(id);
      return view === 'absent' ? undefined : view.snapshot;
    },
  });
  const directory = createSensorDirectory({
    clock,
    feed,
    now,
    supervisor: createSupervisor(now),
    crashes: createCrashLog(silentLogger),
    rebuild: () => Promise.resolve(sensorInputOf(row, nowMs, DEFAULT_INTERVALS)),
    onSnapshot: (id, snapshot) => liveView.observe(id, snapshot),
  });
  return {
    directory,
    liveView,
    feed,
    clock,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe('the live view of the fleet', () => {
  it('should come to show a state whose timer was a moment ahead of the wall clock, heartbeat or not', () => {
    for (const beats of [0, 1]) {
      const { directory, liveView, clock, pass } = fleet();
      const currentNotAfterMs = START_MS + DEFAULT_INTERVALS.RENEWAL_RECOMMENDED_MS;
      pass(-1);
      directory.open(
        'a',
        sensorInputOf({ ...row, currentNotAfterMs }, START_MS, DEFAULT_INTERVALS),
      );
      expect(liveView.get('a')?.trust_health).toBe('healthy');
      for (let beat = 0; beat < beats; beat += 1) directory.tell('a', heartbeat(START_MS));
      pass(1);
      liveView.sweep();
      expect(liveView.get('a')?.trust_health).toBe('renewal_recommended');
      clock.stop();
    }
  });

  it('should follow an actor and count by health', () => {
    const { directory, liveView, clock } = fleet();
    directory.open('a', sensorInputOf(row, START_MS, DEFAULT_INTERVALS));
    expect(liveView.counts()).toMatchObject({ total: 1, healthy: 1, streams: 0 });
    directory.tell('a', { type: 'stream.opened', atMs: START_MS });
    directory.tell('a', heartbeat(START_MS));
    expect(liveView.get('a')).toMatchObject({
      trust_health: 'healthy',
      stream: 'open',
      engine: 'running',
    });
    expect(liveView.counts().streams).toBe(1);
    directory.tell('a', { type: 'sensor.revoked', atMs: START_MS, reason: 'test' });
    expect(liveView.get('a')).toMatchObject({
      trust_health: 'revoked',
      trust_state: 'trust_revoked',
    });
    expect(liveView.counts()).toMatchObject({ healthy: 0, revoked: 1 });
    clock.stop();
  });

  it('should see health that ages by time alone when it sweeps', () => {
    const { directory, liveView, clock, pass } = fleet();
    directory.open('a', sensorInputOf(row, START_MS, DEFAULT_INTERVALS));
    directory.tell('a', heartbeat(START_MS, START_MS));
    expect(liveView.get('a')?.because).toEqual([
      {
        ...{ code: 'trust_error_recent', sinceMs: START_MS },
        facts: {
          last_trust_error_at: START_MS,
          window_seconds: DEFAULT_INTERVALS.TRUST_ERROR_WINDOW_MS / 1_000,
        },
      },
    ]);
    pass(DEFAULT_INTERVALS.TRUST_ERROR_WINDOW_MS);
    directory.tell('a', { type: 'stream.opened', atMs: START_MS });
    liveView.sweep();
    expect(liveView.get('a')?.trust_health).toBe('healthy');
    clock.stop();
  });

  it('should tell listeners of states, not of each heartbeat', () => {
    const { directory, liveView, clock } = fleet();
    directory.open('a', sensorInputOf(row, START_MS, DEFAULT_INTERVALS));
    let told = 0;
    liveView.subscribe(() => {
      told += 1;
    });
    for (let i = 0; i < 5; i += 1) directory.tell('a', heartbeat(START_MS + i));
    expect(told).toBe(1);
    clock.stop();
  });
});

describe('transition recorder', () => {
  it('should store every move in order, wait for a store that is away, and one row of a rebuild', async () => {
    const { directory, feed, clock } = fleet();
    const stored: TransitionRow[] = [];
    let isAway = true;
    const recorder = startTransitionRecorder({
      feed,
      intervalMs: 60_000,
      logger: silentLogger,
      store: {
        insertTransitions: (rows) => {
          if (isAway) return Promise.reject(new Error('away'));
          stored.push(...rows);
          return Promise.resolve();
        },
      },
    });
    directory.open('a', sensorInputOf(row, START_MS, DEFAULT_INTERVALS));
    directory.tell('a', { type: 'stream.opened', atMs: START_MS });
    await recorder.close();
    expect(stored).toEqual([]);
    isAway = false;
    await recorder.close();
    expect(stored.map(({ region, to }) => `${region}:${to}`)).toEqual([
      ':',
      'freshness:fresh',
      'stream:open',
    ]);
    expect(stored[0]).toMatchObject({
      event: 'actor.opened',
      after: { value: { stream: 'closed' } },
    });
    clock.stop();
  });
});
