import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type HeartbeatSnapshot,
  heartbeatMachine,
} from '../../machines/sensor/heartbeat.machine.ts';
import {
  acceptInterval,
  heartbeatDelayMs,
  needsDrain,
} from '../../machines/sensor/heartbeat.rules.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const oneOf = (...all: readonly unknown[]) =>
  fc.nat(1_000).map((at) => all[Math.floor(at / 2) % all.length]);
const outcome = fc.oneof(
  fc.record({
    kind: fc.constant('delivered'),
    intervalMs: fc.option(fc.integer({ min: -5, max: 1_000_000 })),
    needsDrain: fc.boolean(),
    retryAfterMs: fc.option(fc.nat(10_000), { freq: 1 }),
  }),
  fc.record({
    kind: fc.constant('failed'),
    reason: fc.constant('unreachable'),
    retryAfterMs: fc.option(fc.nat(10_000)),
  }),
);
const drained = oneOf(
  { kind: 'more' },
  { kind: 'paused', retryAfterMs: 100 },
  { kind: 'failed', reason: 'gone' },
);
const event = fc.oneof(
  fc.constant({ type: 'heartbeat.requested' }),
  fc.constant({ type: 'stream.settled' }),
  fc.constant({ type: 'drain.requested' }),
  fc.record({ type: fc.constant('interval.set'), intervalMs: fc.integer() }),
);

describeMachineLaws({
  name: 'heartbeat',
  machine: heartbeatMachine,
  input: fc.record({
    intervalMs: fc.integer({ min: 50, max: 30_000 }),
    holdMs: fc.constant(10_000),
    seed: fc.integer(),
  }),
  events: event,
  outputs: { sendHeartbeat: outcome, drainBatch: drained },
});

const begin = (): HeartbeatSnapshot =>
  transition(
    heartbeatMachine,
    initialTransition(heartbeatMachine, { intervalMs: 15_000, holdMs: 10_000, seed: 1 })[0],
    { type: 'stream.settled' },
  )[0];
const spawned = (actions: readonly { type: string; params?: unknown }[]) =>
  actions.filter(({ type }) => type === 'xstate.spawnChild').length;

describe('heartbeat: rules', () => {
  it('never has two heartbeats or two drains in flight', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), (events) => {
        let snapshot = begin();
        const inFlight = () => Object.keys(snapshot.children).length;
        for (const next of events) {
          const [after, actions] = transition(heartbeatMachine, snapshot, next as never);
          if (snapshot.matches({ beat: 'sending' }) && snapshot.matches({ drain: 'sending' })) {
            expect(spawned(actions)).toBe(0);
          }
          snapshot = after;
          expect(inFlight()).toBeLessThanOrEqual(2);
        }
      }),
    );
  });

  it('always starts a drain only behind a heartbeat that arrived', () => {
    const failed = { kind: 'failed', reason: '', retryAfterMs: null };
    const delivered = { kind: 'delivered', intervalMs: null, needsDrain: true, retryAfterMs: null };
    const afterSending = (output: unknown) =>
      transition(heartbeatMachine, begin(), {
        type: 'xstate.done.actor.sendHeartbeat',
        output,
      } as never)[0];
    expect(afterSending(failed).value).toMatchObject({ drain: 'idle' });
    expect(afterSending(delivered).value).toMatchObject({ drain: 'sending' });
  });

  it('always holds the first heartbeat until the stream is settled, or its deadline', () => {
    const input = { intervalMs: 15_000, holdMs: 10_000, seed: 1 };
    const [held] = initialTransition(heartbeatMachine, input);
    const next = (type: string) => transition(heartbeatMachine, held, { type } as never)[0];
    expect(held.matches({ beat: 'holding' })).toBe(true);
    expect(next('heartbeat.requested').matches({ beat: 'holding' })).toBe(true);
    expect(next('stream.settled').matches({ beat: 'sending' })).toBe(true);
    const late = next('xstate.after.holdMs.heartbeat.beat.holding');
    expect(late.matches({ beat: 'sending' })).toBe(true);
  });

  it('always sends soon what was asked for, also behind one in flight, but never after a failure', () => {
    const step = (from: HeartbeatSnapshot, next: object) =>
      transition(heartbeatMachine, from, next as never)[0];
    const ended = (from: HeartbeatSnapshot, output: object) =>
      step(from, { type: 'xstate.done.actor.sendHeartbeat', output });
    const good = { kind: 'delivered', intervalMs: null, needsDrain: false, retryAfterMs: null };
    const bad = { kind: 'failed', reason: '', retryAfterMs: null };
    const asked = step(begin(), { type: 'heartbeat.requested' });
    expect(asked.matches({ beat: 'sending' })).toBe(true);
    expect(ended(asked, good).matches({ beat: 'soon' })).toBe(true);
    expect(ended(asked, bad).matches({ beat: 'waiting' })).toBe(true);
    const waiting = ended(begin(), good);
    expect(step(waiting, { type: 'heartbeat.requested' }).matches({ beat: 'soon' })).toBe(true);
    const failed = ended(begin(), bad);
    expect(step(failed, { type: 'heartbeat.requested' }).matches({ beat: 'waiting' })).toBe(true);
  });

  it('always keeps to its interval, and to nothing sooner, while the Console takes no events', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.boolean(), (retryAfterMs, needsDrain) => {
        const output = { kind: 'delivered', intervalMs: null, needsDrain, retryAfterMs };
        const done = { type: 'xstate.done.actor.sendHeartbeat', output };
        const [waiting, actions] = transition(heartbeatMachine, begin(), done as never);
        expect(waiting.value).toEqual({ beat: 'waiting', drain: 'idle' });
        const delaysMs = actions.flatMap(({ params }) => {
          const delay = (params as { delay?: unknown } | undefined)?.delay;
          return typeof delay === 'number' ? [delay] : [];
        });
        expect(delaysMs).toEqual([heartbeatDelayMs(15_000, 1, 1)]);
        const [asked] = transition(heartbeatMachine, waiting, { type: 'heartbeat.requested' });
        expect(asked.value).toEqual(waiting.value);
      }),
    );
  });

  it('always keeps the interval inside 5 to 30 s, and the jitter within a tenth', () => {
    fc.assert(
      fc.property(fc.double(), fc.integer(), fc.nat(), (asked, seed, beats) => {
        const intervalMs = acceptInterval(asked, 15_000, 15_000);
        expect(intervalMs).toBeGreaterThanOrEqual(5_000);
        expect(intervalMs).toBeLessThanOrEqual(30_000);
        const delayMs = heartbeatDelayMs(intervalMs, seed, beats);
        expect(Math.abs(delayMs - intervalMs)).toBeLessThanOrEqual(intervalMs * 0.1 + 1);
      }),
    );
  });

  it('never drains an empty spool and always drains a stranded batch', () => {
    fc.assert(
      fc.property(fc.nat(), fc.boolean(), fc.boolean(), (depth, isStreamOpen, hadFailed) => {
        const backlog = { depth, isStreamOpen, hadFailed, hasStrandedClaim: true };
        expect(needsDrain(backlog)).toBe(depth > 0);
      }),
    );
  });
});
