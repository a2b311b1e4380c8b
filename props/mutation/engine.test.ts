// The engine subprocess, transition by transition.
import { describe, expect, it } from 'vitest';
import {
  ENGINE_MEMORY_MAX_BYTES,
  ENGINE_RESTART_WINDOW_MS,
  ENGINE_STOP_TIMEOUT_MS,
} from '../../machines/limits.ts';
import { engineMachine } from '../../machines/sensor/engine.machine.ts';
import { type Driven, drive } from '../models/driver.ts';

const INPUT = {
  ...{ startTimeoutMs: 700, hangTimeoutMs: 300, minMs: 1_000, maxMs: 1_000, seed: 1 },
  windowMs: ENGINE_RESTART_WINDOW_MS,
};
const HELLO = { kind: 'procfs', version: '1.7.0', mode: 'polling', disabledHooks: [] };
type Engine = Driven<typeof engineMachine>;

const begin = (): Engine => drive(engineMachine, INPUT);
function starting(): Engine {
  const engine = begin();
  engine.done('unpackEngine');
  return engine;
}
function running(): Engine {
  const engine = starting();
  engine.send({ type: 'engine.ready', hello: HELLO } as never);
  return engine;
}
function lost(): Engine {
  const engine = running();
  engine.done('runEngine', 'exit 1');
  return engine;
}
const value = (engine: Engine) => engine.snapshot().value;
const context = (engine: Engine) => engine.snapshot().context;
const told = (engine: Engine) => engine.takeEffects();
const LOST = (reason: string) => [{ type: 'tellLost', params: { reason } }];

describe('engine: beginning', () => {
  it('should be unpacked, started and say hello', () => {
    const engine = begin();
    expect([value(engine), engine.running()]).toEqual(['unpacking', ['unpackEngine']]);
    expect(context(engine)).toEqual({
      ...INPUT,
      failuresAtMs: [],
      restarts: 0,
      hello: null,
      lastReason: null,
      hasFallback: false,
      next: null,
      refusals: [],
    });
    engine.done('unpackEngine');
    expect([value(engine), engine.running()]).toEqual([{ attending: 'starting' }, ['runEngine']]);
    expect(engine.snapshot().hasTag('running')).toBe(false);
    engine.send({ type: 'engine.ready', hello: HELLO } as never);
    expect([value(engine), context(engine).hello]).toEqual([{ attending: 'running' }, HELLO]);
    expect(told(engine).map(({ type }) => type)).toEqual(['tellRunning']);
    expect(engine.snapshot().hasTag('running')).toBe(true);
  });

  it('should run as long as it says that it is alive', () => {
    const engine = running();
    for (let times = 0; times < 5; times += 1) {
      engine.advance(INPUT.hangTimeoutMs - 1);
      engine.send({ type: 'engine.alive' });
    }
    expect(value(engine)).toEqual({ attending: 'running' });
  });
});

describe('engine: lost', () => {
  it.each<[string, () => Engine, (engine: Engine) => void, string]>([
    ['cannot be unpacked', begin, (one) => one.fail('unpackEngine', 'no space'), 'no space'],
    ['ends', running, (one) => one.done('runEngine', 'exit 1'), 'exit 1'],
    ['cannot run', starting, (one) => one.fail('runEngine', 'ENOENT'), 'ENOENT'],
    ['says no hello', starting, (one) => one.advance(700), 'it did not say hello in time'],
    [
      'holds too much',
      running,
      (one) =>
        one.send({ type: 'engine.alive', memoryBytes: ENGINE_MEMORY_MAX_BYTES + 1 } as never),
      'it held too much memory',
    ],
    ['goes silent', running, (one) => one.advance(300), 'it went silent'],
  ])('should say why when it %s', (_, from, lose, reason) => {
    const engine = from();
    told(engine);
    lose(engine);
    expect([value(engine), engine.running(), told(engine)]).toEqual([
      'lost',
      ['readClock'],
      LOST(reason),
    ]);
    expect(context(engine).lastReason).toBe(reason);
    expect(engine.snapshot().hasTag('running')).toBe(false);
  });

  it('should count the failure and start again after its backoff', () => {
    const engine = lost();
    engine.done('readClock', 77);
    expect([value(engine), context(engine).failuresAtMs, context(engine).restarts]).toEqual([
      'backing_off',
      [77],
      1,
    ]);
    expect(engine.nextTimerMs()).toBe(1_000);
    engine.advance(1_000);
    expect([value(engine), engine.running()]).toEqual(['unpacking', ['unpackEngine']]);
  });

  it('should count at the beginning of time without a clock, and not at all when it breaks', () => {
    const nothing = lost();
    nothing.done('readClock');
    expect([value(nothing), context(nothing).failuresAtMs]).toEqual(['backing_off', [0]]);
    const broken = lost();
    broken.fail('readClock');
    expect([value(broken), context(broken).failuresAtMs]).toEqual(['backing_off', []]);
    expect(broken.nextTimerMs()).toBe(1_000);
  });

  it('should back off longer with every failure of the window', () => {
    const engine = drive(engineMachine, { ...INPUT, maxMs: 60_000 });
    const waits = [1, 2, 3, 4].map((atMs) => {
      engine.fail('unpackEngine');
      engine.done('readClock', atMs);
      const waitMs = engine.nextTimerMs() ?? 0;
      engine.advance(waitMs);
      return waitMs;
    });
    waits.forEach((waitMs, index) => {
      expect(waitMs).toBeGreaterThan(1_000 * 2 ** index);
      expect(waitMs).toBeLessThanOrEqual(2_000 * 2 ** index);
    });
  });

  it('should give up after the cap and try again when the window is over', () => {
    const engine = begin();
    for (let failure = 0; failure < 11; failure += 1) {
      engine.fail('unpackEngine');
      engine.done('readClock', failure);
      if (failure < 10) engine.advance(1_000);
    }
    expect([value(engine), context(engine).restarts]).toEqual(['failed', 11]);
    engine.advance(ENGINE_RESTART_WINDOW_MS - 1);
    expect(value(engine)).toBe('failed');
    engine.advance(1);
    expect([value(engine), context(engine).failuresAtMs]).toEqual(['unpacking', []]);
  });
});

describe('engine: falling back', () => {
  it('should fall back at once after five failures, where a lesser engine is there', () => {
    const engine = begin();
    for (let failure = 1; failure <= 5; failure += 1) {
      engine.done('unpackEngine', { hasFallback: true, refusals: [] });
      engine.done('runEngine', 'exit 1');
      engine.done('readClock', failure);
      if (failure < 5) engine.advance(1_000);
    }
    expect([value(engine), engine.running()]).toEqual(['unpacking', ['unpackEngine']]);
    expect(told(engine).at(-1)).toEqual({ type: 'fallBack', params: { reason: 'exit 1' } });
    expect([context(engine).failuresAtMs, context(engine).restarts]).toEqual([[], 5]);
    engine.done('unpackEngine', { hasFallback: false, refusals: [] });
    expect(context(engine).hasFallback).toBe(false);
  });
});

describe('engine: upgrading', () => {
  const BUILD = { kind: 'ebpf', sum: 'b', name: 'ebpf (b)' };
  const NEXT = { ...HELLO, version: '1.7.1' };
  function attaching(from = running()): Engine {
    from.send({ type: 'engine.newer', build: BUILD } as never);
    told(from);
    return from;
  }
  function swapping(): Engine {
    const engine = attaching();
    engine.send({ type: 'next.attached' });
    return engine;
  }
  const refused = (reason: string) => [{ type: 'refuseNext', params: { build: BUILD, reason } }];

  it('should start the newer build beside, let go once it is attached, and accept it at its hello', () => {
    const engine = attaching();
    expect([value(engine), engine.running()]).toEqual([
      { attending: { upgrading: 'attaching' } },
      ['runEngine', 'runNext'],
    ]);
    expect([engine.inputOf('runNext'), context(engine).next]).toEqual([BUILD, BUILD]);
    expect(engine.snapshot().hasTag('running')).toBe(true);
    engine.send({ type: 'next.ready', hello: NEXT } as never);
    expect(value(engine)).toEqual({ attending: { upgrading: 'attaching' } });
    engine.send({ type: 'next.attached' });
    expect([value(engine), told(engine)]).toEqual([
      { attending: { upgrading: 'swapping' } },
      [{ type: 'letGo', params: undefined }],
    ]);
    expect(engine.snapshot().hasTag('running')).toBe(true);
    engine.send({ type: 'next.ready', hello: NEXT } as never);
    expect([value(engine), engine.running(), told(engine)]).toEqual([
      { attending: 'running' },
      ['runEngine'],
      [{ type: 'acceptNext', params: { build: BUILD } }],
    ]);
    expect(context(engine)).toMatchObject({
      ...{ hello: NEXT, next: null, refusals: [], restarts: 0, failuresAtMs: [] },
    });
    expect(engine.nextTimerMs()).toBe(300);
  });

  it.each<[string, (engine: Engine) => void, string]>([
    ['ends', (one) => one.done('runNext', 'exit 3'), 'exit 3'],
    ['cannot be started', (one) => one.fail('runNext', 'no room'), 'no room'],
    [
      'says nothing in time',
      (one) => {
        for (let times = 0; times < 7; times += 1) {
          one.advance(100);
          one.send({ type: 'engine.alive' });
        }
      },
      'it did not take over in time',
    ],
  ])('should go on as before when the newer build %s, and not try it again', (_, fail, reason) => {
    const engine = attaching();
    fail(engine);
    expect([value(engine), engine.running(), told(engine)]).toEqual([
      { attending: 'running' },
      ['runEngine'],
      refused(reason),
    ]);
    const refusal = { build: BUILD, reason };
    expect(context(engine)).toMatchObject({
      restarts: 0,
      next: null,
      refusals: [refusal],
      hello: HELLO,
    });
    engine.send({ type: 'engine.newer', build: BUILD } as never);
    expect(value(engine)).toEqual({ attending: 'running' });
    attaching(engine).send({ type: 'engine.newer', build: { ...BUILD, sum: 'c' } } as never);
    expect(value(engine)).toEqual({ attending: { upgrading: 'attaching' } });
    expect(context(engine).refusals).toEqual([refusal]);
  });

  it('should not try what was refused in an earlier life, and keep the refusal of another kind', () => {
    const other = { build: { ...BUILD, kind: 'procfs', sum: 'p' }, reason: 'it ended' };
    const engine = begin();
    engine.done('unpackEngine', {
      hasFallback: true,
      refusals: [{ build: BUILD, reason: 'no' }, other],
    });
    engine.send({ type: 'engine.ready', hello: HELLO } as never);
    expect(value(attaching(engine))).toEqual({ attending: 'running' });
    engine.send({ type: 'engine.newer', build: { ...BUILD, sum: 'c' } } as never);
    engine.send({ type: 'next.attached' });
    engine.send({ type: 'next.ready', hello: NEXT } as never);
    expect(context(engine).refusals).toEqual([other]);
    engine.send({ type: 'engine.current', refusals: [] } as never);
    expect(context(engine).refusals).toEqual([]);
  });

  it('should forget a refusal when what would run is what runs', () => {
    const engine = attaching();
    engine.done('runNext', 'exit 3');
    engine.send({ type: 'engine.current', refusals: [] } as never);
    expect(context(engine).refusals).toEqual([]);
    expect(value(attaching(engine))).toEqual({ attending: { upgrading: 'attaching' } });
  });

  it.each<[string, (engine: Engine) => void, string]>([
    ['ends', (one) => one.done('runEngine', 'exit 1'), 'exit 1'],
    ['cannot run', (one) => one.fail('runEngine', 'gone'), 'gone'],
    ['goes silent', (one) => one.advance(300), 'it went silent'],
    [
      'holds too much',
      (one) =>
        one.send({ type: 'engine.alive', memoryBytes: ENGINE_MEMORY_MAX_BYTES + 1 } as never),
      'it held too much memory',
    ],
  ])('should be lost when the one that runs %s meanwhile', (_, lose, reason) => {
    const engine = attaching();
    lose(engine);
    expect([value(engine), engine.running(), told(engine)]).toEqual([
      ...['lost', ['readClock'], LOST(reason)],
    ]);
    expect(context(engine).refusals).toEqual([]);
  });

  it.each<[string, (engine: Engine) => void, string]>([
    ['ends', (one) => one.done('runNext', 'exit 3'), 'exit 3'],
    ['says no hello in time', (one) => one.advance(700), 'it did not take over in time'],
  ])('should be lost and refuse the newer build when that %s after the swap', (_, lose, reason) => {
    const engine = swapping();
    told(engine);
    engine.advance(400);
    engine.send({ type: 'engine.alive' });
    expect(value(engine)).toEqual({ attending: { upgrading: 'swapping' } });
    lose(engine);
    expect([value(engine), told(engine)]).toEqual(['lost', [...refused(reason), ...LOST(reason)]]);
    expect(context(engine)).toMatchObject({ next: null, refusals: [{ build: BUILD, reason }] });
  });

  it('should stop both', () => {
    for (const engine of [attaching(), swapping()]) {
      engine.send({ type: 'stop.requested' });
      expect([value(engine), engine.running()]).toEqual(['stopping', ['stopEngine']]);
    }
  });
});

describe('engine: stopping', () => {
  it('should stop from every state, however the stop goes', () => {
    const backingOff = lost();
    backingOff.done('readClock', 1);
    const failed = begin();
    for (let failure = 0; failure < 11; failure += 1) {
      failed.fail('unpackEngine');
      failed.done('readClock', failure);
      if (failure < 10) failed.advance(1_000);
    }
    const ends: readonly ((engine: Engine) => void)[] = [
      (engine) => engine.done('stopEngine'),
      (engine) => engine.fail('stopEngine'),
      (engine) => engine.advance(1),
    ];
    [begin(), starting(), running(), lost(), backingOff, failed].forEach((engine, index) => {
      engine.send({ type: 'stop.requested' });
      expect([value(engine), engine.running()]).toEqual(['stopping', ['stopEngine']]);
      engine.advance(2 * ENGINE_STOP_TIMEOUT_MS - 1);
      expect(value(engine)).toBe('stopping');
      ends[index % ends.length]?.(engine);
      expect([value(engine), engine.snapshot().status]).toEqual(['stopped', 'done']);
    });
  });
});
