import { describe, expect, it } from 'vitest';
import { ENGINE_TRIALS_MAX } from './engine-limits.ts';
import { beginTrial, refusalOf } from './engine-trials.rules.ts';

const build = { kind: 'ebpf', sum: 'b', name: 'ebpf (b)' };
const kept = { build: { kind: 'ebpf', sum: 'a', name: 'ebpf (a)' }, files: [] };

describe('trials of the engine', () => {
  it('should count how often the same bytes were tried, and begin anew with others', () => {
    const first = beginTrial(undefined, build, kept);
    expect(first).toEqual({ build, reason: null, trials: 1, kept });
    expect(beginTrial(first, build, kept).trials).toBe(2);
    expect(beginTrial(first, { ...build, sum: 'c' }, null)).toMatchObject({
      trials: 1,
      kept: null,
    });
  });

  it('should refuse for the reason there is', () => {
    const trial = { ...beginTrial(undefined, build, kept), reason: 'it ended with 3' };
    expect(refusalOf(trial)).toEqual({ build, reason: 'it ended with 3' });
  });

  it('should repeat a trial that was never decided, but not for ever', () => {
    const trial = { build, reason: null, trials: ENGINE_TRIALS_MAX - 1, kept };
    expect(refusalOf(trial)).toBeNull();
    expect(refusalOf({ ...trial, trials: ENGINE_TRIALS_MAX })?.reason).toMatch(/never to the end/);
  });
});
