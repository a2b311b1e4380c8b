// The Sensor's stream, transition by transition. decision: D6, D9
import { describe, expect, it } from 'vitest';
import { PAUSE_MAX_MS } from '../../machines/limits.ts';
import { streamMachine } from '../../machines/sensor/stream.machine.ts';
import { type Driven, drive } from '../models/driver.ts';

const INPUT = {
  minMs: 1_000,
  maxMs: 1_000,
  openTimeoutMs: 700,
  tickMs: 50,
  ackTimeoutMs: 300,
  silenceMs: 400,
  seed: 1,
};
type Stream = Driven<typeof streamMachine>;

const begin = (): Stream => drive(streamMachine, INPUT);
function open(): Stream {
  const stream = begin();
  stream.done('openSocket', { kind: 'opened' });
  return stream;
}
function sent(sequence = 5, isFull = false): Stream {
  const stream = open();
  stream.done('claimBatch', { sequence, isFull });
  told(stream);
  return stream;
}
const context = (stream: Stream) => stream.snapshot().context;
const value = (stream: Stream) => stream.snapshot().value;
const delivery = (stream: Stream) =>
  (value(stream) as { open: { delivery: unknown } }).open.delivery;
const told = (stream: Stream) => stream.takeEffects().map(({ type }) => type);
const send = (stream: Stream, type: string, more: object = {}) => stream.send({ type, ...more });

describe('stream: opening', () => {
  it('should begin by opening, with nothing in flight', () => {
    const stream = begin();
    expect([value(stream), stream.running(), stream.snapshot().hasTag('can-send')]).toEqual([
      'opening',
      ['openSocket'],
      false,
    ]);
    expect(context(stream)).toEqual({
      ...INPUT,
      failures: 0,
      retryAfterMs: null,
      pauseMs: 0,
      sequence: null,
      isFull: false,
    });
  });

  it('should claim at once when it is open', () => {
    const stream = open();
    expect(value(stream)).toEqual({ open: { delivery: 'claiming', liveness: 'listening' } });
    expect([told(stream), stream.running()]).toEqual([['tellOpened'], ['claimBatch']]);
    expect(stream.snapshot().hasTag('can-send')).toBe(true);
  });

  it.each<[string, (stream: Stream) => void, number | null, number, string[]]>([
    [
      'is refused',
      (one) => one.done('openSocket', { kind: 'failed', reason: 'no', retryAfterMs: 5_000 }),
      5_000,
      5_000,
      [],
    ],
    ['gives nothing', (one) => one.done('openSocket'), null, 1_000, []],
    ['breaks', (one) => one.fail('openSocket'), null, 1_000, []],
    ['loses its socket', (one) => send(one, 'socket.lost', { reason: '' }), null, 1_000, []],
    ['takes too long', (one) => one.advance(700), null, 1_000, ['closeSocket']],
  ])('should wait when opening %s', (_, end, retryAfterMs, waitMs, effects) => {
    const stream = begin();
    stream.advance(0);
    end(stream);
    expect([value(stream), told(stream), stream.running()]).toEqual(['waiting', effects, []]);
    expect(context(stream)).toMatchObject({ failures: 1, retryAfterMs, sequence: null });
    expect(stream.nextTimerMs()).toBe(waitMs);
    stream.advance(waitMs);
    expect([value(stream), stream.running()]).toEqual(['opening', ['openSocket']]);
    stream.done('openSocket', { kind: 'opened' });
    expect(context(stream)).toMatchObject({ failures: 0, retryAfterMs: null });
  });

  it('should not wait longer than the longest pause', () => {
    const stream = begin();
    const retryAfterMs = 2 * PAUSE_MAX_MS;
    stream.done('openSocket', { kind: 'failed', reason: 'no', retryAfterMs });
    expect(stream.nextTimerMs()).toBe(PAUSE_MAX_MS);
  });
});

describe('stream: losing', () => {
  it.each<[string, (stream: Stream) => void]>([
    ['the socket is lost', (one) => send(one, 'socket.lost', { reason: 'closed' })],
    ['the acknowledgment stays away', (one) => one.advance(INPUT.ackTimeoutMs)],
    [
      'the Console is silent',
      (one) => send(one, 'xstate.after.silenceMs.stream.open.liveness.listening'),
    ],
  ])('should close and wait when %s', (_, lose) => {
    const stream = sent();
    lose(stream);
    expect([value(stream), told(stream)]).toEqual(['waiting', ['closeSocket', 'tellLost']]);
    expect(context(stream)).toMatchObject({ failures: 1, retryAfterMs: null, sequence: null });
  });

  it('should count silence from the last ping', () => {
    const stream = open();
    stream.advance(INPUT.silenceMs - 1);
    send(stream, 'ping.received');
    stream.advance(INPUT.silenceMs - 1);
    expect(stream.snapshot().hasTag('can-send')).toBe(true);
    stream.advance(1);
    expect(value(stream)).toBe('waiting');
  });
});

describe('stream: delivery', () => {
  it('should send the claimed batch and note how full it is', () => {
    const stream = open();
    told(stream);
    stream.done('claimBatch', { sequence: 5, isFull: true });
    expect(stream.takeEffects()).toEqual([{ type: 'sendBatch', params: { sequence: 5 } }]);
    expect([delivery(stream), context(stream).sequence, context(stream).isFull]).toEqual([
      'sent',
      5,
      true,
    ]);
  });

  it.each<[string, (stream: Stream) => void]>([
    ['finds nothing', (one) => one.done('claimBatch', null)],
    ['ends without a word', (one) => one.done('claimBatch')],
    ['breaks', (one) => one.fail('claimBatch')],
  ])('should rest for a tick when claiming %s', (_, end) => {
    const stream = open();
    told(stream);
    end(stream);
    expect([delivery(stream), told(stream)]).toEqual(['resting', []]);
    stream.advance(INPUT.tickMs - 1);
    expect(delivery(stream)).toBe('resting');
    stream.advance(1);
    expect([delivery(stream), stream.running()]).toEqual(['claiming', ['claimBatch']]);
  });

  it.each([
    [true, 'claiming'],
    [false, 'resting'],
  ])('should settle an acknowledgment and, full: %s, go on %s', (isFull, next) => {
    const stream = sent(5, isFull);
    send(stream, 'batch.acknowledged', { sequence: 4 });
    expect(delivery(stream)).toBe('sent');
    send(stream, 'batch.acknowledged', { sequence: 5 });
    expect(delivery(stream)).toEqual({ settling: 'acknowledged' });
    expect(stream.inputOf('settleBatch')).toEqual({ sequence: 5, code: null });
    stream.done('settleBatch');
    expect([delivery(stream), context(stream).sequence]).toEqual([next, null]);
  });

  it('should settle a refusal with its code', () => {
    for (const isWell of [true, false]) {
      const stream = sent(5, true);
      send(stream, 'batch.refused', { sequence: 6, code: 'schema_violation' });
      expect(delivery(stream)).toBe('sent');
      send(stream, 'batch.refused', { sequence: 5, code: 'schema_violation' });
      expect(delivery(stream)).toEqual({ settling: 'refused' });
      expect(stream.inputOf('settleBatch')).toEqual({ sequence: 5, code: 'schema_violation' });
      if (isWell) stream.done('settleBatch');
      else stream.fail('settleBatch');
      expect([delivery(stream), context(stream).sequence]).toEqual(['resting', null]);
    }
  });

  it('should rest when an acknowledgment cannot be written down', () => {
    const stream = sent(5, true);
    send(stream, 'batch.acknowledged', { sequence: 5 });
    stream.fail('settleBatch');
    expect(delivery(stream)).toBe('resting');
  });

  it.each([
    [-5, 0],
    [120, 120],
    [2 * PAUSE_MAX_MS, PAUSE_MAX_MS],
  ])('should pause for %d ms as %d when the Console asks', (ms, pauseMs) => {
    const resting = open();
    resting.done('claimBatch', null);
    for (const stream of [resting, sent()]) {
      send(stream, 'pause.requested', { ms });
      expect([delivery(stream), context(stream).pauseMs]).toEqual(['paused', pauseMs]);
    }
    const stream = sent();
    send(stream, 'pause.requested', { ms: 120 });
    stream.advance(119);
    expect(delivery(stream)).toBe('paused');
    stream.advance(1);
    expect(delivery(stream)).toBe('claiming');
  });
});
