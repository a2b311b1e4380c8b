import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { type SensorEvent, sensorMachine } from '../../../machines/console/fleet/sensor.machine.ts';
import { type Move, regionsAt, together } from './time-travel.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);
const windows = {
  ...{ recommendedMs: 3 * DAY_MS, dueMs: DAY_MS },
  ...{ trustErrorMs: 900_000, stalenessMs: 90_000 },
};

const events: fc.Arbitrary<(atMs: number) => SensorEvent> = fc.constantFrom(
  (atMs: number): SensorEvent => ({ type: 'stream.opened', atMs }),
  (atMs: number): SensorEvent => ({ type: 'stream.closed', atMs, reason: 'gone' }),
  (atMs: number): SensorEvent => ({ type: 'sensor.revoked', atMs, reason: 'test' }),
  (atMs: number): SensorEvent => ({ type: 'containment.ordered', atMs }),
  (atMs: number): SensorEvent => ({ type: 'release.ordered', atMs }),
  (atMs: number): SensorEvent => ({ type: 'policy.assigned', atMs }),
  (atMs: number): SensorEvent => ({ type: 'certificate.changed', atMs, notAfterMs: atMs + 1 }),
  (atMs: number): SensorEvent => ({
    ...{ type: 'heartbeat.received', atMs, reportedTrustState: 'trusted', engineState: 'running' },
    ...{ lastTrustErrorAtMs: null, lastConnectionErrorAtMs: null },
  }),
);

type Regions = Readonly<Record<string, string>>;

/** Runs a sensor's machine and keeps what the Console would record, and what the actor showed after each step. */
function live(
  steps: readonly { readonly waitMs: number; readonly make: (atMs: number) => SensorEvent }[],
) {
  const context = {
    ...{
      sensorId: 's',
      nowMs: START_MS,
      knownSinceMs: START_MS,
      notAfterMs: START_MS + 30 * DAY_MS,
    },
    ...{ revokedAtMs: null, lastHeartbeatAtMs: null, reportedTrustState: null, engineState: null },
    ...{ lastTrustErrorAtMs: null, lastConnectionErrorAtMs: null, windows },
  };
  let [snapshot] = initialTransition(sensorMachine, context);
  let atMs = START_MS;
  const moves: Move[] = [];
  const shown: { readonly atMs: number; readonly value: Regions }[] = [
    { atMs, value: snapshot.value as Regions },
  ];
  for (const { waitMs, make } of steps) {
    atMs += waitMs;
    const before = snapshot.value as Regions;
    const event = make(atMs);
    [snapshot] = transition(sensorMachine, snapshot, event);
    const value = snapshot.value as Regions;
    for (const [region, to] of Object.entries(value)) {
      const from = before[region] ?? '';
      if (from === to) continue;
      moves.push({
        region,
        from,
        to,
        event: event.type,
        facts: {},
        at: new Date(atMs).toISOString(),
      });
    }
    shown.push({ atMs, value });
  }
  return { moves, shown };
}

describe('time travel', () => {
  const steps = fc.array(
    fc.record({ waitMs: fc.integer({ min: 1, max: 100_000 }), make: events }),
    { maxLength: 25 },
  );

  it('should always show what the live actor showed at that instant', () => {
    fc.assert(
      fc.property(steps, fc.nat(), (taken, pick) => {
        const { moves, shown } = live(taken);
        const now = shown.at(-1)?.value ?? {};
        for (const { atMs, value } of shown) {
          expect(regionsAt(moves, now, atMs)).toEqual(value);
          expect(regionsAt([...moves].reverse(), now, atMs)).toEqual(value);
        }
        // Between two steps the actor is what it was after the first of them.
        const step = shown[pick % shown.length];
        const next = shown[(pick % shown.length) + 1];
        if (step !== undefined && next !== undefined && next.atMs - step.atMs > 1) {
          expect(regionsAt(moves, now, next.atMs - 1)).toEqual(step.value);
        }
      }),
    );
  });

  it('should hold a move that came both ways once', () => {
    const move = {
      region: 'a',
      from: 'x',
      to: 'y',
      event: 'e',
      facts: {},
      at: '2026-01-01T00:00:00Z',
    };
    expect(together([move], [move])).toEqual([move]);
  });
});
