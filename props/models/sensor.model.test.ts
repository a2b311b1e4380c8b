// One sensor as the Console sees it, beside plain arithmetic on one clock: the dates of the certificate, the last sign of
// life and whether a stream is open decide everything, to the millisecond. invariant: I3, I4; decision: D14
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sensorMachine } from '../../machines/console/fleet/sensor.machine.ts';
import type { SensorInput } from '../../machines/console/fleet/sensor.rules.ts';
import type {
  OrderFacts,
  ReportFacts,
} from '../../machines/console/fleet/sensor-containment.rules.ts';
import { CONTAINMENT_STATES } from '../../machines/wire/policy.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move } from './driver.ts';

const START_MS = 1_000_000_000;
const HOUR_MS = 3_600_000;
const WINDOWS = {
  recommendedMs: 72 * HOUR_MS,
  dueMs: 24 * HOUR_MS,
  trustErrorMs: 900_000,
  stalenessMs: 90_000,
};
type Model = {
  /** What the wall clock shows more than the timers' clock. */
  offsetMs: number;
  notAfterMs: number | null;
  isRevoked: boolean;
  isOpen: boolean;
  /** On the timers' clock. */
  heardAtMs: number;
  hasBeaten: boolean;
  /** A stream was seen since the machine last had to decide without a heartbeat. */
  wasSeen: boolean;
  engine: string;
  policy: string;
  order: OrderFacts | null;
  said: ReportFacts | null;
  isContained: boolean;
};
type Real = Driven<typeof sensorMachine>;

const wallOf = (model: Model, real: Real) => real.nowMs() + model.offsetMs;
function trustOf(model: Model, real: Real): string {
  if (model.isRevoked) return 'revoked';
  const leftMs = (model.notAfterMs ?? Number.POSITIVE_INFINITY) - wallOf(model, real);
  if (leftMs <= WINDOWS.dueMs) return 'renewal_due';
  return leftMs <= WINDOWS.recommendedMs ? 'renewal_recommended' : 'trusted';
}
function freshnessOf(model: Model, real: Real): string {
  const silentMs = real.nowMs() - model.heardAtMs;
  if (!model.isOpen && silentMs >= WINDOWS.stalenessMs) return 'stale';
  return model.hasBeaten || model.wasSeen ? 'fresh' : 'awaiting';
}
function send(model: Model, real: Real, event: { type: string; [field: string]: unknown }): void {
  real.send({ ...event, atMs: wallOf(model, real) } as never);
}

const beat = fc.constantFrom('running', 'degraded', 'starting', 'failed').map(
  (engineState): Move<Model, Real> => ({
    name: `heartbeat(${engineState})`,
    run(model, real) {
      send(model, real, {
        type: 'heartbeat.received',
        reportedTrustState: 'trusted',
        lastTrustErrorAtMs: null,
        lastConnectionErrorAtMs: null,
        engineState,
      });
      model.heardAtMs = real.nowMs();
      model.hasBeaten = true;
      const isRunning = engineState === 'running' || engineState === 'degraded';
      model.engine = isRunning ? engineState : 'down';
    },
  }),
);
const open = move<Model, Real>('open', (model, real) => {
  send(model, real, { type: 'stream.opened' });
  model.isOpen = true;
  model.wasSeen = true;
});
const close = move<Model, Real>('close', (model, real) => {
  send(model, real, { type: 'stream.closed', reason: 'lost' });
  model.isOpen = false;
});
const jump = fc.integer({ min: -100 * HOUR_MS, max: 100 * HOUR_MS }).map(
  (byMs): Move<Model, Real> => ({
    name: `jump(${byMs})`,
    run(model, real) {
      model.offsetMs += byMs;
      send(model, real, { type: 'clock.jumped', byMs });
      model.wasSeen = model.isOpen;
    },
  }),
);
const renew = fc.integer({ min: -2, max: 200 }).map(
  (hours): Move<Model, Real> => ({
    name: `certificate(${hours} h)`,
    run(model, real) {
      const notAfterMs = wallOf(model, real) + hours * HOUR_MS;
      send(model, real, { type: 'certificate.changed', notAfterMs });
      if (!model.isRevoked) model.notAfterMs = notAfterMs;
    },
  }),
);
const revoke = move<Model, Real>('revoke', (model, real) => {
  send(model, real, { type: 'sensor.revoked', reason: '' });
  model.isRevoked = true;
});
const policy = fc
  .constantFrom('assigned', 'pending', 'in_force', 'rejected', 'failed', 'unassigned')
  .map(
    (state): Move<Model, Real> => ({
      name: `policy(${state})`,
      run(model, real) {
        if (state === 'assigned') send(model, real, { type: 'policy.assigned' });
        else send(model, real, { type: 'policy.reported', state });
        model.policy = state === 'assigned' ? 'pending' : state;
      },
    }),
  );
/** The newest order wins until the node has said something of it; an order whose time is over is none. */
function containmentOf(model: Model, real: Real): string {
  const { order, said } = model;
  const isOver = order?.untilMs !== null && order !== null && order.untilMs <= wallOf(model, real);
  const isOpen = order !== null && order.orderId !== said?.orderId;
  if (isOpen && order.wanted === 'released') return 'releasing';
  if (isOpen && !isOver) return 'containing';
  return said?.state ?? 'released';
}
const contain = fc
  .record({
    wanted: fc.constantFrom('contained' as const, 'released' as const),
    orderId: fc.integer({ min: 1, max: 5 }).map(String),
  })
  .map(
    (given): Move<Model, Real> => ({
      name: `${given.wanted}(${given.orderId})`,
      run(model, real) {
        const order = { ...given, reason: '', untilMs: null };
        send(model, real, { type: 'containment.ordered', order });
        if (model.order === null || given.orderId > model.order.orderId) model.order = order;
      },
    }),
  );
const say = fc
  .record({
    state: fc.constantFrom(...CONTAINMENT_STATES),
    orderId: fc.option(fc.integer({ min: 1, max: 5 }).map(String), { nil: null }),
    failure: fc.constant(null),
  })
  .map(
    (report): Move<Model, Real> => ({
      name: `says(${report.state} ${report.orderId})`,
      run(model, real) {
        send(model, real, { type: 'containment.reported', report });
        model.said = report;
        if (report.state === 'contained') model.isContained = true;
        if (report.state === 'released') model.isContained = false;
      },
    }),
  );
const wait = fc
  .oneof(fc.nat(40_000), fc.constantFrom(1, 89_999, 90_000), fc.nat(80 * HOUR_MS))
  .map((ms): Move<Model, Real> => ({ name: `wait(${ms})`, run: (_, real) => real.advance(ms) }));
const timer = move<Model, Real>('timer', (_, real) =>
  real.advance(Math.min(real.nextTimerMs() ?? 0, 200 * HOUR_MS)),
);

const input = fc.record({
  notAfterHours: fc.option(fc.integer({ min: -2, max: 200 })),
  silentMs: fc.option(fc.nat(100_000)),
});

function begin(given: { notAfterHours: number | null; silentMs: number | null }) {
  const { notAfterHours, silentMs } = given;
  const notAfterMs = notAfterHours === null ? null : START_MS + notAfterHours * HOUR_MS;
  const facts: SensorInput = {
    sensorId: 's',
    nowMs: START_MS,
    knownSinceMs: START_MS,
    notAfterMs,
    revokedAtMs: null,
    lastHeartbeatAtMs: silentMs === null ? null : START_MS - silentMs,
    reportedTrustState: null,
    lastTrustErrorAtMs: null,
    lastConnectionErrorAtMs: null,
    engineState: null,
    windows: WINDOWS,
  };
  const model: Model = {
    offsetMs: 0,
    notAfterMs,
    isRevoked: false,
    isOpen: false,
    heardAtMs: START_MS - (silentMs ?? 0),
    hasBeaten: silentMs !== null,
    wasSeen: false,
    engine: 'unknown',
    policy: 'unassigned',
    order: null,
    said: null,
    isContained: false,
  };
  return { model, real: drive(sensorMachine, facts, START_MS) };
}

describe('sensor', () => {
  itsMachineAgrees(sensorMachine, {
    input,
    begin,
    moves: [
      beat,
      open,
      close,
      wait,
      wait,
      timer,
      jump,
      renew,
      fc.oneof({ weight: 1, arbitrary: revoke }, { weight: 6, arbitrary: beat }),
      policy,
      contain,
      say,
    ],
    agree(model, real) {
      // A timer that is due now has its say before anybody looks.
      real.advance(0);
      const { value, context } = real.snapshot();
      expect(value).toEqual({
        trust: trustOf(model, real),
        freshness: freshnessOf(model, real),
        stream: model.isOpen ? 'open' : 'closed',
        engine: model.engine,
        policy: model.policy,
        containment: containmentOf(model, real),
      });
      expect(real.snapshot().hasTag('accepts-requests')).toBe(!model.isRevoked);
      expect(context.notAfterMs).toBe(model.notAfterMs);
      expect(context.containment.isContained).toBe(model.isContained);
    },
  });

  it('should stay fresh when the clock jumps while a stream is open before the first heartbeat', () => {
    const { model, real } = begin({ notAfterHours: 700, silentMs: null });
    send(model, real, { type: 'stream.opened' });
    send(model, real, { type: 'clock.jumped', byMs: 0 });
    real.advance(2 * WINDOWS.stalenessMs);
    expect(real.snapshot().value.freshness).toBe('fresh');
  });
});
