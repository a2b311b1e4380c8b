// Containment of a node beside what it is: the newest order, whether its time is over, and what runs because of it.
// decision: D85
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { containmentMachine } from '../../machines/sensor/containment.machine.ts';
import { type Driven, drive, itsMachineAgrees, type Move, move } from './driver.ts';

const CHECK_MS = 15_000;
const START_MS = 1_000_000;
type At =
  | 'looking'
  | 'released'
  | 'reviewing'
  | 'containing'
  | 'holding'
  | 'checking'
  | 'ending'
  | 'releasing'
  | 'failed';
type Model = {
  at: At;
  order: { orderId: string; wanted: string; untilMs: number | null } | null;
  nowMs: number;
  elapsedMs: number;
  failure: string | null;
  repaired: number;
  /** Its rules were in force, so that its end is for good. */
  isCarriedOut: boolean;
  hasEnded: boolean;
  /** The wall clock of the node beside true time. */
  offsetMs: number;
};
type Real = Driven<typeof containmentMachine>;
const RUNS: Readonly<Partial<Record<At, string>>> = {
  ...{ looking: 'readClock', reviewing: 'readClock', containing: 'applyRules' },
  ...{ checking: 'checkRules', ending: 'readClock', releasing: 'liftRules' },
};

function isInForce({ order, nowMs, hasEnded }: Model): boolean {
  if (order === null || order.wanted === 'released' || hasEnded) return false;
  return order.untilMs === null || nowMs < order.untilMs;
}
/** An order with an end that nobody saw come. */
const isOpen = ({ order, hasEnded }: Model): boolean =>
  order !== null && order.wanted === 'contained' && order.untilMs !== null && !hasEnded;
function go(model: Model, at: At): void {
  model.elapsedMs = 0;
  model.at = at === 'holding' && !isInForce(model) ? 'releasing' : at;
  if (model.at === 'releasing') model.hasEnded ||= isOpen(model) && model.isCarriedOut;
}
function decide(model: Model): void {
  if (model.order === null) go(model, 'released');
  else go(model, isInForce(model) ? 'containing' : 'releasing');
}
/** Until the next timer of where it is; null when none runs. */
function dueMs(model: Model): number | null {
  if (model.at === 'failed' || (model.at === 'released' && isOpen(model))) return CHECK_MS;
  if (model.at !== 'holding') return null;
  const end = model.order?.untilMs ?? null;
  return end === null ? CHECK_MS : Math.min(CHECK_MS, Math.max(0, end - model.nowMs));
}

const orders = fc
  .record({
    orderId: fc.integer({ min: 1, max: 9 }).map(String),
    wanted: fc.constantFrom('contained', 'contained', 'released'),
    reason: fc.constant(''),
    untilMs: fc.option(fc.integer({ min: START_MS - 5_000, max: START_MS + 60_000 })),
  })
  .map(
    (order): Move<Model, Real> => ({
      name: `${order.wanted}(${order.orderId} ${order.untilMs})`,
      run(model, real) {
        const atMs = real.nowMs() + model.offsetMs;
        real.send({ type: 'order.received', order, atMs } as never);
        if (model.order !== null && order.orderId <= model.order.orderId) return;
        model.order = order;
        model.nowMs = atMs;
        model.isCarriedOut = false;
        model.hasEnded = false;
        decide(model);
      },
    }),
  );
const ends = move<Model, Real>('done', (model, real) => {
  const src = RUNS[model.at];
  if (src === undefined) return;
  const atMs = real.nowMs() + model.offsetMs;
  const was = model.at;
  const output = was === 'checking' ? { atMs, wasRepaired: atMs % 2 === 0 } : atMs;
  real.done(src, output);
  if (was === 'reviewing') {
    const end = model.order?.untilMs ?? 0;
    if (atMs < end) model.nowMs = atMs;
    return go(model, atMs < end ? 'containing' : 'released');
  }
  model.nowMs = atMs;
  if (was === 'containing') model.isCarriedOut = true;
  if (was === 'looking') return decide(model);
  if (was === 'checking') model.repaired += atMs % 2 === 0 ? 1 : 0;
  else if (was !== 'ending') model.failure = null;
  go(model, was === 'releasing' ? 'released' : 'holding');
});
const fails = move<Model, Real>('fail', (model, real) => {
  const src = RUNS[model.at];
  if (src === undefined) return;
  real.fail(src, new Error('no'));
  if (model.at === 'looking') return decide(model);
  if (model.at === 'ending') return go(model, 'holding');
  if (model.at === 'reviewing') return go(model, 'released');
  model.failure = 'no';
  go(model, 'failed');
});
const clock = fc.constantFrom(-600_000, 0, 600_000).map(
  (ms): Move<Model, Real> => ({
    name: `clock(${ms})`,
    run(model) {
      model.offsetMs = ms;
    },
  }),
);
const wait = fc.integer({ min: 1, max: 20_000 }).map(
  (ms): Move<Model, Real> => ({
    name: `wait(${ms})`,
    run(model, real) {
      let leftMs = ms;
      for (;;) {
        const due = dueMs(model);
        const untilMs = due === null ? null : due - model.elapsedMs;
        if (untilMs === null || untilMs > leftMs) break;
        real.advance(untilMs);
        leftMs -= untilMs;
        const end = model.order?.untilMs ?? null;
        if (model.at === 'failed') go(model, 'looking');
        else if (model.at === 'released') go(model, 'reviewing');
        else if (end !== null && Math.max(0, end - model.nowMs) < CHECK_MS) go(model, 'ending');
        else go(model, 'checking');
      }
      real.advance(leftMs);
      model.elapsedMs += leftMs;
    },
  }),
);

describe('containment', () => {
  itsMachineAgrees(containmentMachine, {
    input: fc.option(fc.constantFrom('contained', 'released')),
    begin(wanted: string | null) {
      const order =
        wanted === null ? null : { orderId: '2', wanted, reason: '', untilMs: START_MS + 30_000 };
      const input = { order, sinceMs: 0, repaired: 0, isCarriedOut: false, checkMs: CHECK_MS };
      const real = drive(containmentMachine, input, START_MS);
      const model: Model = {
        ...{ at: 'looking', order, nowMs: 0, elapsedMs: 0, failure: null, repaired: 0 },
        ...{ isCarriedOut: false, hasEnded: false, offsetMs: 0 },
      };
      return { model, real };
    },
    moves: [orders, ends, ends, ends, fails, wait, wait, clock],
    agree(model, real) {
      const { value, context } = real.snapshot();
      const at = typeof value === 'object' ? Object.values(value)[0] : value;
      expect(at).toBe(model.at);
      expect(real.running()).toEqual([RUNS[model.at]].filter((one) => one !== undefined));
      expect(context.order?.orderId).toBe(model.order?.orderId);
      expect(context.order?.hasEnded === true).toBe(model.hasEnded);
      expect([context.failure, context.repaired]).toEqual([model.failure, model.repaired]);
    },
  });
});
