import { describe, expect, it } from 'vitest';
import {
  ENGINE_FALLBACK_FAILURES,
  ENGINE_MEMORY_MAX_BYTES,
  ENGINE_RESTART_WINDOW_MS,
  ENGINE_RESTARTS_MAX,
} from '../limits.ts';
import {
  engineStateOf,
  hooksWith,
  isGivenUp,
  isRunaway,
  isTimeToFallBack,
  isUntried,
  withFailure,
  withoutKind,
  withRefusal,
} from './engine.rules.ts';
import { TETRAGON_MEMORY_MAX_BYTES } from './tetragon-limits.ts';

describe('engine rules', () => {
  it('should count a failure until it is exactly one window old, and none from the future', () => {
    const nowMs = 5 * ENGINE_RESTART_WINDOW_MS;
    const edge = nowMs - ENGINE_RESTART_WINDOW_MS;
    const failures = [edge - 1, edge, edge + 1, nowMs, nowMs + 1];
    expect(withFailure(failures, nowMs, ENGINE_RESTART_WINDOW_MS)).toEqual([
      edge + 1,
      nowMs,
      nowMs,
    ]);
  });

  it('should give up with one failure more than the cap', () => {
    const failures = (count: number) => new Array<number>(count).fill(0);
    expect(isGivenUp(failures(ENGINE_RESTARTS_MAX))).toBe(false);
    expect(isGivenUp(failures(ENGINE_RESTARTS_MAX + 1))).toBe(true);
  });

  it('should fall back well before it gives up', () => {
    const failures = (count: number) => new Array<number>(count).fill(0);
    expect(isTimeToFallBack(failures(ENGINE_FALLBACK_FAILURES - 1))).toBe(false);
    expect(isTimeToFallBack(failures(ENGINE_FALLBACK_FAILURES))).toBe(true);
    expect(ENGINE_FALLBACK_FAILURES).toBeLessThan(ENGINE_RESTARTS_MAX);
  });

  it('should call an engine a runaway above what its kind may hold', () => {
    expect(isRunaway('ebpf', ENGINE_MEMORY_MAX_BYTES)).toBe(false);
    expect(isRunaway('ebpf', ENGINE_MEMORY_MAX_BYTES + 1)).toBe(true);
    expect(isRunaway('tetragon', TETRAGON_MEMORY_MAX_BYTES)).toBe(false);
    expect(isRunaway('tetragon', TETRAGON_MEMORY_MAX_BYTES + 1)).toBe(true);
  });

  it.each([
    ['unpacking', 'unpacking'],
    ['attending', 'starting'],
    ['lost', 'restarting'],
    ['backing_off', 'restarting'],
    ['failed', 'failed'],
    ['stopping', 'stopped'],
    ['stopped', 'stopped'],
    ['anything else', 'failed'],
  ])('should say of %s on the wire: %s', (state, word) => {
    expect(engineStateOf(state, false)).toBe(word);
    expect(engineStateOf(state, true)).toBe('running');
  });
});

describe('a newer build that did not take over', () => {
  const build = { kind: 'ebpf', sum: 'a', name: 'ebpf 1.7.0 (a)' };
  const refusal = { build, reason: 'it ended with 3' };
  const other = { build: { kind: 'procfs', sum: 'p', name: 'procfs 1.7.0 (p)' }, reason: 'no' };

  it('should be tried once for the same bytes', () => {
    expect(isUntried([], build)).toBe(true);
    expect(isUntried([other, refusal], { ...build, name: 'another name' })).toBe(false);
    expect(isUntried([other, refusal], { ...build, sum: 'b' })).toBe(true);
  });

  it('should be the last one of its kind', () => {
    const later = { build: { ...build, sum: 'b' }, reason: 'it ended with 4' };
    expect(withRefusal([refusal, other], later)).toEqual([other, later]);
    expect(withoutKind([refusal, other], 'ebpf')).toEqual([other]);
    expect(withoutKind([refusal], 'tetragon')).toEqual([refusal]);
  });

  it('should be told before the hooks that are missing, within the bound of a reason', () => {
    const hooks = [{ hook: 'io_uring', reason: 'not seen' }];
    expect(hooksWith(hooks, [])).toEqual(hooks);
    const reason = 'ebpf 1.7.0 (a) did not take over: it ended with 3';
    expect(hooksWith(hooks, [refusal, other])).toEqual([
      { hook: 'engine/upgrade', reason },
      { hook: 'engine/upgrade', reason: 'procfs 1.7.0 (p) did not take over: no' },
      ...hooks,
    ]);
    const [long] = hooksWith([], [{ ...refusal, reason: 'x'.repeat(600) }]);
    expect(long?.reason).toHaveLength(512);
  });
});
