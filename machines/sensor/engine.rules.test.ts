import { describe, expect, it } from 'vitest';
import { ENGINE_RESTART_WINDOW_MS, ENGINE_RESTARTS_MAX } from '../limits.ts';
import { engineStateOf, isGivenUp, withFailure } from './engine.rules.ts';

describe('engine rules', () => {
  it('should count a failure until it is exactly one window old, and none from the future', () => {
    const nowMs = 5 * ENGINE_RESTART_WINDOW_MS;
    const edge = nowMs - ENGINE_RESTART_WINDOW_MS;
    expect(withFailure([edge - 1, edge, edge + 1, nowMs, nowMs + 1], nowMs)).toEqual([
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
