import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type StreamSnapshot, streamMachine } from '../../machines/sensor/stream.machine.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const oneOf = (...all: readonly unknown[]) =>
  fc.nat(1_000).map((at) => all[Math.floor(at / 2) % all.length]);
const INPUT = {
  minMs: 1_000,
  maxMs: 30_000,
  openTimeoutMs: 10_000,
  tickMs: 500,
  ackTimeoutMs: 30_000,
  silenceMs: 30_000,
  seed: 3,
};
const sequence = fc.integer({ min: 1, max: 4 });
const event = fc.oneof(
  fc.record({ type: fc.constant('socket.lost'), reason: fc.constant('closed') }),
  fc.constant({ type: 'ping.received' }),
  fc.record({ type: fc.constant('batch.acknowledged'), sequence }),
  fc.record({
    type: fc.constant('batch.refused'),
    sequence,
    code: fc.constant('sequence_conflict'),
  }),
  fc.record({ type: fc.constant('pause.requested'), ms: fc.integer() }),
);

describeMachineLaws({
  name: 'stream',
  machine: streamMachine,
  input: fc.integer().map((seed) => ({ ...INPUT, seed })),
  events: event,
  outputs: {
    openSocket: oneOf(
      { kind: 'opened' },
      { kind: 'failed', reason: 'refused', retryAfterMs: null },
    ),
    claimBatch: oneOf({ sequence: 1, isFull: true }, { sequence: 2, isFull: false }, null),
    settleBatch: fc.constant(undefined),
  },
});

const step = (snapshot: StreamSnapshot, next: { type: string; [key: string]: unknown }) =>
  transition(streamMachine, snapshot, next as never);
const open = (): StreamSnapshot =>
  step(initialTransition(streamMachine, INPUT)[0], {
    type: 'xstate.done.actor.openSocket',
    output: { kind: 'opened' },
  })[0];

describe('stream: rules', () => {
  it('always waits between 1 and 30 s before it opens again', () => {
    let [snapshot, actions] = initialTransition(streamMachine, INPUT);
    for (let failures = 1; failures < 12; failures += 1) {
      [snapshot, actions] = step(snapshot, {
        type: 'xstate.error.actor.openSocket',
        error: new Error('refused'),
      });
      const raised = actions.find(({ type }) => type === 'xstate.raise');
      const { delay = 0 } = (raised?.params ?? {}) as { delay?: number };
      expect(delay).toBeGreaterThanOrEqual(Math.min(15_000, 1_000 * 2 ** (failures - 1)));
      expect(delay).toBeLessThanOrEqual(30_000);
      [snapshot] = step(snapshot, { type: 'xstate.after.retryDelayMs.stream.waiting' });
      expect(snapshot.value).toBe('opening');
    }
  });

  it('never sends a second batch before the first is acknowledged by its own number', () => {
    fc.assert(
      fc.property(fc.array(sequence, { maxLength: 10 }), (numbers) => {
        let [snapshot] = step(open(), {
          type: 'xstate.done.actor.claimBatch',
          output: { sequence: 5, isFull: false },
        });
        for (const number of numbers) {
          const [next, actions] = step(snapshot, { type: 'batch.acknowledged', sequence: number });
          expect(actions).toEqual([]);
          snapshot = next;
        }
        [snapshot] = step(snapshot, { type: 'batch.acknowledged', sequence: 5 });
        expect(snapshot.matches({ open: { delivery: 'settling' } })).toBe(true);
      }),
    );
  });

  it('always closes the socket when an acknowledgment or every ping stays away', () => {
    const [sent] = step(open(), {
      type: 'xstate.done.actor.claimBatch',
      output: { sequence: 5, isFull: false },
    });
    for (const type of [
      'xstate.after.ackTimeoutMs.stream.open.delivery.sent',
      'xstate.after.silenceMs.stream.open.liveness.listening',
    ]) {
      const [after, actions] = step(sent, { type });
      expect(after.value).toBe('waiting');
      expect(actions.map(({ type: name }) => name)).toContain('closeSocket');
    }
  });
});
