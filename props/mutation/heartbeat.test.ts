// The Sensor's heartbeat and the drain beside it, transition by transition. decision: D6, D13
import { describe, expect, it } from 'vitest';
import { HEARTBEAT_SOON_MS, PAUSE_MAX_MS } from '../../machines/limits.ts';
import { heartbeatMachine } from '../../machines/sensor/heartbeat.machine.ts';
import { heartbeatDelayMs } from '../../machines/sensor/heartbeat.rules.ts';
import { type Driven, drive } from '../models/driver.ts';

const INPUT = { intervalMs: 10_000, holdMs: 300, seed: 1 };
const DELIVERED = { kind: 'delivered', intervalMs: null, needsDrain: false, retryAfterMs: null };
type Heartbeat = Driven<typeof heartbeatMachine>;

const begin = (over: object = {}): Heartbeat => drive(heartbeatMachine, { ...INPUT, ...over });
function sending(over: object = {}): Heartbeat {
  const heartbeat = begin(over);
  send(heartbeat, 'stream.settled');
  return heartbeat;
}
function delivered(more: object = {}): Heartbeat {
  const heartbeat = sending();
  heartbeat.done('sendHeartbeat', { ...DELIVERED, ...more });
  return heartbeat;
}
function send(heartbeat: Heartbeat, type: string, more: object = {}): void {
  heartbeat.send({ type, ...more });
}
const beat = (heartbeat: Heartbeat) => heartbeat.snapshot().value.beat;
const drain = (heartbeat: Heartbeat) => heartbeat.snapshot().value.drain;
const context = (heartbeat: Heartbeat) => heartbeat.snapshot().context;

describe('heartbeat: beginning', () => {
  it('should hold the first one until the stream settles, or not longer than it may', () => {
    const heartbeat = begin();
    expect(heartbeat.snapshot().value).toEqual({ beat: 'holding', drain: 'idle' });
    expect(context(heartbeat)).toEqual({
      configuredMs: 10_000,
      ...INPUT,
      beats: 0,
      failures: 0,
      retryAfterMs: null,
      pauseMs: 0,
      isWanted: false,
    });
    heartbeat.advance(299);
    expect(beat(heartbeat)).toBe('holding');
    heartbeat.advance(1);
    expect([beat(heartbeat), heartbeat.running()]).toEqual(['sending', ['sendHeartbeat']]);
    expect(heartbeat.inputOf('sendHeartbeat')).toEqual({ hasFailedBefore: false });
    expect(beat(sending())).toBe('sending');
  });
});

describe('heartbeat: sending', () => {
  it('should wait for the interval, give or take its jitter, after one that arrived', () => {
    const heartbeat = delivered();
    expect([beat(heartbeat), drain(heartbeat), context(heartbeat).beats]).toEqual([
      'waiting',
      'idle',
      1,
    ]);
    expect(heartbeat.nextTimerMs()).toBe(Math.ceil(heartbeatDelayMs(10_000, 1, 1)));
    heartbeat.advance(12_000);
    expect(beat(heartbeat)).toBe('sending');
    heartbeat.done('sendHeartbeat', DELIVERED);
    expect(context(heartbeat).beats).toBe(2);
  });

  it('should take over the interval that the Console sets, by answer or by itself', () => {
    const heartbeat = delivered({ intervalMs: 20_000 });
    expect(context(heartbeat)).toMatchObject({ intervalMs: 20_000, configuredMs: 10_000 });
    send(heartbeat, 'interval.set', { intervalMs: 7_000 });
    expect(context(heartbeat).intervalMs).toBe(7_000);
    const quick = begin({ intervalMs: 100 });
    send(quick, 'interval.set', { intervalMs: 7_000 });
    expect(context(quick).intervalMs).toBe(100);
  });

  it('should drain when there is a backlog', () => {
    const heartbeat = delivered({ needsDrain: true, intervalMs: 20_000 });
    expect(heartbeat.snapshot().value).toEqual({ beat: 'waiting', drain: 'sending' });
    expect([heartbeat.running(), context(heartbeat).intervalMs]).toEqual([['drainBatch'], 20_000]);
  });

  it.each<[string, (heartbeat: Heartbeat) => void, string, number | null]>([
    [
      'failed',
      (one) => one.done('sendHeartbeat', { kind: 'failed', reason: 'later', retryAfterMs: 90_000 }),
      'later',
      90_000,
    ],
    ['gave nothing', (one) => one.done('sendHeartbeat'), 'no answer', null],
    ['broke', (one) => one.fail('sendHeartbeat', 'no route'), 'no route', null],
  ])('should count one that %s, and say why', (_, end, reason, retryAfterMs) => {
    const heartbeat = sending();
    end(heartbeat);
    expect(heartbeat.snapshot().value).toEqual({ beat: 'waiting', drain: 'idle' });
    expect(heartbeat.takeEffects()).toEqual([{ type: 'tellFailed', params: { reason } }]);
    expect(context(heartbeat)).toMatchObject({ beats: 1, failures: 1, retryAfterMs });
    send(heartbeat, 'heartbeat.requested');
    expect(beat(heartbeat)).toBe('waiting');
    const waitMs = Math.ceil(heartbeatDelayMs(10_000, 1, 1));
    expect(heartbeat.nextTimerMs()).toBe(Math.max(waitMs, retryAfterMs ?? 0));
    heartbeat.advance(90_000);
    expect(heartbeat.inputOf('sendHeartbeat')).toEqual({ hasFailedBefore: true });
    heartbeat.done('sendHeartbeat', DELIVERED);
    expect(context(heartbeat)).toMatchObject({ failures: 0, retryAfterMs: null });
  });

  it('should not wait longer than the longest pause', () => {
    const heartbeat = sending();
    const retryAfterMs = 2 * PAUSE_MAX_MS;
    heartbeat.done('sendHeartbeat', { kind: 'failed', reason: 'later', retryAfterMs });
    expect(heartbeat.nextTimerMs()).toBe(PAUSE_MAX_MS);
  });
});

describe('heartbeat: asked for', () => {
  it('should go out in a moment', () => {
    const heartbeat = delivered();
    send(heartbeat, 'heartbeat.requested');
    expect([beat(heartbeat), heartbeat.nextTimerMs()]).toEqual(['soon', HEARTBEAT_SOON_MS]);
    heartbeat.advance(HEARTBEAT_SOON_MS);
    expect(beat(heartbeat)).toBe('sending');
    const quick = sending({ intervalMs: 100 });
    quick.done('sendHeartbeat', DELIVERED);
    send(quick, 'heartbeat.requested');
    expect(quick.nextTimerMs()).toBe(100);
  });

  it('should follow the one in flight, once, unless that one failed', () => {
    const heartbeat = sending();
    send(heartbeat, 'heartbeat.requested');
    expect([beat(heartbeat), context(heartbeat).isWanted]).toEqual(['sending', true]);
    heartbeat.done('sendHeartbeat', DELIVERED);
    expect(beat(heartbeat)).toBe('soon');
    heartbeat.advance(HEARTBEAT_SOON_MS);
    expect(context(heartbeat).isWanted).toBe(false);
    send(heartbeat, 'heartbeat.requested');
    heartbeat.done('sendHeartbeat', { kind: 'failed', reason: 'later', retryAfterMs: null });
    expect(beat(heartbeat)).toBe('waiting');
  });
});

describe('heartbeat: a Console that takes no events', () => {
  it('should be sent nothing that is not due, and be told at the interval that the Sensor lives', () => {
    const heartbeat = delivered({ needsDrain: true, retryAfterMs: 90_000 });
    expect(heartbeat.snapshot().value).toEqual({ beat: 'waiting', drain: 'idle' });
    expect(context(heartbeat)).toMatchObject({ failures: 0, retryAfterMs: 90_000 });
    send(heartbeat, 'heartbeat.requested');
    expect(beat(heartbeat)).toBe('waiting');
    expect(heartbeat.nextTimerMs()).toBe(Math.ceil(heartbeatDelayMs(10_000, 1, 1)));
    heartbeat.advance(12_000);
    expect(heartbeat.inputOf('sendHeartbeat')).toEqual({ hasFailedBefore: false });
    send(heartbeat, 'heartbeat.requested');
    heartbeat.done('sendHeartbeat', { ...DELIVERED, retryAfterMs: 0 });
    expect(beat(heartbeat)).toBe('waiting');
    heartbeat.advance(12_000);
    heartbeat.done('sendHeartbeat', DELIVERED);
    send(heartbeat, 'heartbeat.requested');
    expect([beat(heartbeat), context(heartbeat).retryAfterMs]).toEqual(['soon', null]);
  });
});

describe('heartbeat: drain', () => {
  it('should send batch after batch until the spool is empty', () => {
    const heartbeat = delivered();
    send(heartbeat, 'drain.requested');
    for (let batch = 0; batch < 3; batch += 1) {
      expect([drain(heartbeat), heartbeat.running()]).toEqual(['sending', ['drainBatch']]);
      heartbeat.done('drainBatch', { kind: 'more' });
    }
    heartbeat.done('drainBatch', { kind: 'empty' });
    expect([drain(heartbeat), heartbeat.running()]).toEqual(['idle', []]);
  });

  it.each<[string, (heartbeat: Heartbeat) => void]>([
    ['fails', (one) => one.done('drainBatch', { kind: 'failed', reason: 'no' })],
    ['gives nothing', (one) => one.done('drainBatch')],
    ['breaks', (one) => one.fail('drainBatch')],
  ])('should wait for the next heartbeat when a batch %s', (_, end) => {
    const heartbeat = delivered({ needsDrain: true });
    end(heartbeat);
    expect(drain(heartbeat)).toBe('idle');
  });

  it.each([
    [-5, 0],
    [120, 120],
    [2 * PAUSE_MAX_MS, PAUSE_MAX_MS],
  ])('should pause for %d ms as %d when the Console asks', (retryAfterMs, pauseMs) => {
    const heartbeat = delivered({ needsDrain: true });
    heartbeat.done('drainBatch', { kind: 'paused', retryAfterMs });
    expect([drain(heartbeat), context(heartbeat).pauseMs]).toEqual(['paused', pauseMs]);
    if (pauseMs !== 120) return;
    heartbeat.advance(119);
    expect(drain(heartbeat)).toBe('paused');
    heartbeat.advance(1);
    expect([drain(heartbeat), heartbeat.running()]).toEqual(['sending', ['drainBatch']]);
  });
});
