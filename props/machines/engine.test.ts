import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ENGINE_FALLBACK_FAILURES,
  ENGINE_MEMORY_MAX_BYTES,
  ENGINE_RESTART_WINDOW_MS,
  ENGINE_RESTARTS_MAX,
} from '../../machines/limits.ts';
import { type EngineSnapshot, engineMachine } from '../../machines/sensor/engine.machine.ts';
import { isGivenUp, withFailure } from '../../machines/sensor/engine.rules.ts';
import { TETRAGON_MEMORY_MAX_BYTES } from '../../machines/sensor/tetragon-limits.ts';
import { describeMachineLaws } from './laws.ts';
import { initialTransition, transition } from './moves.ts';

const INPUT = {
  startTimeoutMs: 10_000,
  hangTimeoutMs: 30_000,
  minMs: 1_000,
  maxMs: 60_000,
  windowMs: ENGINE_RESTART_WINDOW_MS,
  seed: 2,
};
const hello = { kind: 'procfs', version: '1.7.0', mode: 'polling', disabledHooks: [] };
const BUILDS = ['one', 'two', 'three'].map((sum) => ({
  ...{ kind: sum === 'three' ? 'procfs' : 'ebpf' },
  ...{ sum, name: `build ${sum}` },
}));
const refusalsOf = (sums: readonly string[]) =>
  BUILDS.filter(({ sum }) => sums.includes(sum)).map((build) => ({ build, reason: 'no' }));
const LAID_OUT = { hasFallback: false, refusals: [] };
const event = fc.constantFrom(
  { type: 'engine.ready', hello },
  { type: 'engine.alive' },
  { type: 'engine.alive', memoryBytes: ENGINE_MEMORY_MAX_BYTES + 1 },
  { type: 'engine.newer', build: BUILDS[0] },
  { type: 'engine.newer', build: BUILDS[1] },
  { type: 'engine.current', refusals: [] },
  { type: 'next.attached' },
  { type: 'next.ready', hello },
  { type: 'stop.requested' },
);

describeMachineLaws({
  name: 'engine',
  machine: engineMachine,
  input: fc.constant(INPUT),
  events: event,
  outputs: {
    unpackEngine: fc.record({
      hasFallback: fc.boolean(),
      refusals: fc.constantFrom(refusalsOf([]), refusalsOf(['one'])),
    }),
    runEngine: fc.constant('exit 1'),
    runNext: fc.constant('exit 2'),
    stopEngine: fc.constant(undefined),
    readClock: fc.nat(10_000_000),
  },
  unreachable: { 'engine.failed': 'eleven failures in one window are walked through below' },
});

const step = (snapshot: EngineSnapshot, next: { type: string; [key: string]: unknown }) =>
  transition(engineMachine, snapshot, next as never)[0];

type Effect = {
  readonly type: string;
  readonly params?: {
    readonly src?: unknown;
    readonly input?: { readonly sum: string };
    readonly build?: { readonly sum: string };
  };
};

describe('engine: rules', () => {
  it('always gives up after the cap of a window and tries again when the window is over', () => {
    let snapshot = initialTransition(engineMachine, INPUT)[0];
    for (let failure = 0; failure <= ENGINE_RESTARTS_MAX; failure += 1) {
      expect(snapshot.value).toBe('unpacking');
      snapshot = step(snapshot, { type: 'xstate.done.actor.unpackEngine', output: LAID_OUT });
      snapshot = step(snapshot, { type: 'xstate.done.actor.runEngine', output: 'exit 1' });
      snapshot = step(snapshot, { type: 'xstate.done.actor.readClock', output: failure });
      if (snapshot.value === 'backing_off') {
        snapshot = step(snapshot, { type: 'xstate.after.backoffMs.engine.backing_off' });
      }
    }
    expect(snapshot.value).toBe('failed');
    snapshot = step(snapshot, { type: 'xstate.after.windowMs.engine.failed' });
    expect(snapshot.value).toBe('unpacking');
  });

  it('always lets a lesser engine take over after some failures, where there is one', () => {
    let snapshot = initialTransition(engineMachine, INPUT)[0];
    for (let failure = 1; failure <= ENGINE_FALLBACK_FAILURES; failure += 1) {
      expect(snapshot.value).toBe('unpacking');
      snapshot = step(snapshot, {
        type: 'xstate.done.actor.unpackEngine',
        output: { hasFallback: true, refusals: [] },
      });
      snapshot = step(snapshot, { type: 'xstate.done.actor.runEngine', output: 'exit 1' });
      const [next, effects] = transition(engineMachine, snapshot, {
        type: 'xstate.done.actor.readClock',
        output: failure,
      } as never);
      const fallsBack = failure === ENGINE_FALLBACK_FAILURES;
      expect(effects.some(({ type }) => type === 'fallBack')).toBe(fallsBack);
      expect(next.value).toBe(fallsBack ? 'unpacking' : 'backing_off');
      snapshot = fallsBack
        ? next
        : step(next, { type: 'xstate.after.backoffMs.engine.backing_off' });
    }
    expect(snapshot.context.failuresAtMs).toEqual([]);
    expect(snapshot.context.restarts).toBe(ENGINE_FALLBACK_FAILURES);
  });

  it('always treats too much memory for its kind as a loss, and never less', () => {
    const kinds = fc.constantFrom(
      { kind: 'procfs', mostBytes: ENGINE_MEMORY_MAX_BYTES },
      { kind: 'tetragon', mostBytes: TETRAGON_MEMORY_MAX_BYTES },
    );
    const share = fc.double({ min: 0, max: 2, noNaN: true });
    fc.assert(
      fc.property(kinds, share, ({ kind, mostBytes }, times) => {
        const memoryBytes = Math.round(mostBytes * times);
        const started = step(initialTransition(engineMachine, INPUT)[0], {
          type: 'xstate.done.actor.unpackEngine',
          output: LAID_OUT,
        });
        const running = step(started, { type: 'engine.ready', hello: { ...hello, kind } });
        const next = step(running, { type: 'engine.alive', memoryBytes });
        expect(next.value).toEqual(memoryBytes > mostBytes ? 'lost' : { attending: 'running' });
      }),
    );
  });

  it('never counts failures that are older than the window', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(ENGINE_RESTART_WINDOW_MS * 4), { maxLength: 40 }), (times) => {
        const sorted = times.toSorted((a, b) => a - b);
        const counted = sorted.reduce<readonly number[]>(
          (failures, at) => withFailure(failures, at, ENGINE_RESTART_WINDOW_MS),
          [],
        );
        const newest = sorted.at(-1) ?? 0;
        expect(counted.every((at) => newest - at < ENGINE_RESTART_WINDOW_MS)).toBe(true);
        expect(isGivenUp(counted)).toBe(counted.length > ENGINE_RESTARTS_MAX);
      }),
    );
  });

  it('always treats silence as a hang and an exit as a loss', () => {
    let running = step(initialTransition(engineMachine, INPUT)[0], {
      type: 'xstate.done.actor.unpackEngine',
      output: LAID_OUT,
    });
    running = step(running, { type: 'engine.ready', hello });
    expect(running.hasTag('running')).toBe(true);
    const hung = step(running, { type: 'xstate.after.hangTimeoutMs.engine.attending.running' });
    expect(hung.value).toBe('lost');
    expect(step(running, { type: 'xstate.done.actor.runEngine', output: 'exit 1' }).value).toBe(
      'lost',
    );
  });

  it('never lets go of the one that runs before the newer build is attached, nor tries a refused one again', () => {
    const moves = fc.oneof(
      fc.constantFrom(...BUILDS).map((build) => ({ type: 'engine.newer', build })),
      fc.constantFrom(
        { type: 'engine.alive' },
        { type: 'next.attached' },
        { type: 'next.ready', hello },
        { type: 'xstate.done.actor.runNext', output: 'exit 2' },
        { type: 'xstate.error.actor.runNext', error: new Error('no') },
        { type: 'xstate.after.startTimeoutMs.engine.attending.upgrading' },
      ),
    );
    // Refused in an earlier life of the Sensor.
    const earlier = fc.constantFrom([], ['one'], ['two', 'three']);
    fc.assert(
      fc.property(earlier, fc.array(moves, { maxLength: 30 }), (before, events) => {
        const laidOut = { hasFallback: false, refusals: refusalsOf(before) };
        const begun = initialTransition(engineMachine, INPUT)[0];
        const placed = step(begun, { type: 'xstate.done.actor.unpackEngine', output: laidOut });
        let snapshot = step(placed, { type: 'engine.ready', hello });
        let current = 1;
        let tried = '';
        // Of each kind the last one.
        const refused = new Map(refusalsOf(before).map(({ build }) => [build.kind, build.sum]));
        const kindOf = (sum: string) => BUILDS.find((one) => one.sum === sum)?.kind ?? '';
        for (const event of events) {
          const [after, effects] = transition(engineMachine, snapshot, event as never);
          snapshot = after;
          for (const { type, params } of effects as readonly Effect[]) {
            if (type === 'xstate.spawnChild' && params?.src === 'runNext') {
              tried = params.input?.sum ?? '';
              expect([...refused.values()]).not.toContain(tried);
            }
            if (type === 'letGo') {
              expect(event.type).toBe('next.attached');
              current -= 1;
            }
            if (type === 'acceptNext') {
              expect(params?.build?.sum).toBe(tried);
              current += 1;
              refused.delete(kindOf(tried));
            }
            if (type === 'refuseNext') refused.set(kindOf(tried), tried);
          }
          expect(snapshot.context.refusals.map(({ build }) => build.sum).toSorted()).toEqual(
            [...refused.values()].toSorted(),
          );
          expect([0, 1]).toContain(current);
          if (snapshot.value === 'lost') return;
          // Whatever came of it: unless it was lost, one runs, and nothing was restarted.
          expect(snapshot.hasTag('running')).toBe(true);
          expect(snapshot.context.restarts).toBe(0);
          if (snapshot.matches({ attending: 'running' })) expect(current).toBe(1);
        }
      }),
    );
  });
});
