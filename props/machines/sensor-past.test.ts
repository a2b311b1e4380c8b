// A sensor's past: whatever its live actor showed at an instant, diagram, facts, timers and health, is restored from the
// stored rows, over a real directory, wheel and recorder; where rows were dropped nothing is claimed. decision: D88
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fleetEntryAt } from '../../actors/fleet/fleet-live-view.ts';
import { pastSensorAt } from '../../actors/fleet/past-sensor.ts';
import { createSensorDirectory } from '../../actors/fleet/sensor.actor.ts';
import { ROWS_DROPPED, startTransitionRecorder } from '../../actors/fleet/transition-recorder.ts';
import { createInspectionFeed } from '../../actors/runtime/inspection-feed.ts';
import { silentLogger } from '../../actors/runtime/silent-logger.ts';
import { createCrashLog, createSupervisor } from '../../actors/runtime/supervisor.ts';
import { createWheelClock } from '../../actors/runtime/wheel-clock.ts';
import type { SensorEvent } from '../../machines/console/fleet/sensor.machine.ts';
import type { SensorContext, SensorInput } from '../../machines/console/fleet/sensor.rules.ts';
import type { TransitionRow } from '../../storage/ports/telemetry/event-store.ts';
import { runs } from '../runs.ts';

const START_MS = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const ID = 's';
const input: SensorInput = {
  ...{ sensorId: ID, nowMs: START_MS, knownSinceMs: START_MS, notAfterMs: START_MS + HOUR_MS },
  ...{ revokedAtMs: null, lastHeartbeatAtMs: null, reportedTrustState: null, engineState: null },
  ...{ lastTrustErrorAtMs: null, lastConnectionErrorAtMs: null },
  windows: {
    ...{ recommendedMs: HOUR_MS / 2, dueMs: HOUR_MS / 4 },
    ...{ trustErrorMs: 900_000, stalenessMs: 90_000 },
  },
};

type Step = { readonly waitMs: number; readonly make: (atMs: number) => SensorEvent | 'restart' };
const heartbeat = fc
  .record({
    reportedTrustState: fc.constantFrom('trusted' as const, 'renewal_due' as const),
    engineState: fc.constantFrom('running' as const, 'failed' as const, 'degraded' as const),
    hasTrustError: fc.integer({ min: 0, max: 5 }),
    hasConnectionError: fc.integer({ min: 0, max: 5 }),
  })
  .map(
    ({ reportedTrustState, engineState, hasTrustError, hasConnectionError }) =>
      (atMs: number): SensorEvent => ({
        ...{ type: 'heartbeat.received', atMs, reportedTrustState, engineState },
        lastTrustErrorAtMs: hasTrustError === 0 ? atMs - 1 : null,
        lastConnectionErrorAtMs: hasConnectionError === 0 ? atMs - 1 : null,
      }),
  );
const others = fc.constantFrom<Step['make']>(
  (atMs) => ({ type: 'stream.opened', atMs }),
  (atMs) => ({ type: 'stream.closed', atMs, reason: 'gone' }),
  (atMs) => ({ type: 'sensor.revoked', atMs, reason: 'test' }),
  (atMs) => ({
    ...{ type: 'containment.ordered', atMs },
    order: {
      ...{ orderId: String(atMs), wanted: 'contained', reason: '' },
      untilMs: atMs % 2 === 0 ? null : atMs + 60_000,
    },
  }),
  (atMs) => ({
    ...{ type: 'containment.reported', atMs },
    report: { orderId: null, state: 'contained', failure: null },
  }),
  (atMs) => ({ type: 'policy.assigned', atMs }),
  (atMs) => ({ type: 'windows.changed', atMs, dueMs: 60_000 }),
  (atMs) => ({ type: 'certificate.changed', atMs, notAfterMs: atMs + HOUR_MS }),
  () => 'restart',
);
const steps = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: HOUR_MS / 4 })),
    make: fc.oneof({ weight: 3, arbitrary: heartbeat }, { weight: 2, arbitrary: others }),
  }),
  { maxLength: 30 },
);

/** Time that moves only when told. */
function manualTime() {
  let nowMs = 0;
  let pending: { readonly run: () => void; readonly atMs: number } | null = null;
  return {
    now: () => START_MS + nowMs,
    time: {
      monotonicNow: () => nowMs,
      setTimeout(run: () => void, delayMs: number) {
        pending = { run, atMs: nowMs + delayMs };
        return pending;
      },
      clearTimeout(timer: unknown) {
        if (pending === timer) pending = null;
      },
    },
    advance(ms: number) {
      const endMs = nowMs + ms;
      while (pending !== null && pending.atMs <= endMs) {
        const { run, atMs } = pending;
        nowMs = Math.max(nowMs, atMs);
        pending = null;
        run();
      }
      nowMs = endMs;
    },
  };
}

type Seen = { readonly atMs: number; readonly shown: unknown };

/** What was recorded, and what the live actor showed at many instants. */
async function live(told: readonly Step[], awayFor: number) {
  const { now, time, advance } = manualTime();
  const clock = createWheelClock({ time, tickMs: 1 });
  const feed = createInspectionFeed();
  const stored: TransitionRow[] = [];
  let step = 0;
  const recorder = startTransitionRecorder({
    ...{ feed, intervalMs: 1_000, logger: silentLogger },
    ...(awayFor === 0 ? {} : { queueMax: 5 }),
    store: {
      insertTransitions: async (rows) => {
        if (step < awayFor) throw new Error('away');
        stored.push(...rows);
      },
    },
  });
  const directory = createSensorDirectory({
    ...{ clock, feed, now, supervisor: createSupervisor(now) },
    crashes: createCrashLog(silentLogger),
    rebuild: () => Promise.resolve(null),
  });
  const seen: Seen[] = [];
  const look = () => {
    const view = directory.ask(ID);
    if (view !== 'absent') {
      const { snapshot, timers } = view;
      seen.push({ atMs: now(), shown: shownOf(snapshot, timers, now()) });
    }
  };
  directory.open(ID, input);
  look();
  for (const { waitMs, make } of told) {
    const half = Math.floor(waitMs / 2);
    advance(half);
    look();
    advance(waitMs - half);
    await Promise.resolve();
    const event = make(now());
    if (event === 'restart') {
      directory.close(ID);
      directory.open(ID, { ...input, nowMs: now() });
    } else directory.tell(ID, event);
    look();
    step += 1;
  }
  step = awayFor;
  await recorder.close();
  clock.stop();
  return { seen, stored, dropped: recorder.dropped() };
}

type Snapshot = NonNullable<NonNullable<ReturnType<typeof pastSensorAt>>['snapshot']>;

function shownOf(
  snapshot: Pick<Snapshot, 'value' | 'context'>,
  timers: readonly { readonly state: string; readonly dueMs: number }[],
  atMs: number,
) {
  const { nowMs: _now, lastHeartbeatAtMs: _last, ...facts } = snapshot.context as SensorContext;
  const {
    last_heartbeat_at_ms: _beat,
    engine_since_ms: _since,
    ...entry
  } = fleetEntryAt(snapshot as Snapshot, atMs, undefined);
  // One that is due in this very millisecond may have fired or not.
  const running = timers.filter(({ dueMs }) => dueMs > atMs);
  return { value: snapshot.value, facts, entry, timers: running };
}

function restoredAt(stored: readonly TransitionRow[], atMs: number) {
  return pastSensorAt([...stored].reverse(), atMs);
}

describe('the past of a sensor', () => {
  it('should always be what the live actor showed at that instant', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (told) => {
        const { seen, stored } = await live(told, 0);
        for (const { atMs, shown } of seen) {
          const past = restoredAt(stored, atMs);
          if (past?.snapshot == null) throw new Error(`nothing is known of ${atMs}`);
          expect(shownOf(past.snapshot, past.standing?.timers ?? [], atMs)).toEqual(shown);
        }
      }),
      { numRuns: runs(50) },
    );
  });

  it('should always be what was shown or a gap, and gaps count what was dropped', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 30 }), async (told, awayFor) => {
        const { seen, stored, dropped } = await live(told, awayFor);
        const gaps = stored.filter(({ event }) => event === ROWS_DROPPED);
        expect(gaps.reduce((sum, gap) => sum + Number(gap.facts['rows']), 0)).toBe(dropped);
        for (const { atMs, shown } of seen) {
          const past = restoredAt(stored, atMs);
          if (past === null) throw new Error(`nothing is known of ${atMs}`);
          if (past.snapshot === null) expect(past.row.event).toBe(ROWS_DROPPED);
          else expect(shownOf(past.snapshot, past.standing?.timers ?? [], atMs)).toEqual(shown);
        }
      }),
      { numRuns: runs(50) },
    );
  });
});
