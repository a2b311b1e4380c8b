// Builds that failed, told by hand: what a later Sensor may do with them, and what it may not.
import { describe, expect, it } from 'vitest';
import type { EngineStep, Observation } from '../world/observation.ts';
import { engineWatch } from './engine-watch.ts';

const step = (sensor: number, what: EngineStep, build = 'b', process = 1): Observation => ({
  ...{ kind: 'engine.step', node: 'n', process, build, sensor, step: what },
});
function tell(...story: readonly Observation[]): readonly string[] {
  const found: string[] = [];
  const checker = engineWatch.make({} as never, (detail) => found.push(detail));
  for (const [atMs, observation] of story.entries()) checker.observe?.(observation, atMs);
  checker.finish?.(story.length);
  return found;
}

const failed = [step(1, 'beside'), step(1, 'failed'), step(1, 'ended')];
describe('engine watch: a build that failed', () => {
  it('should not be started by a later Sensor in place of what ran', () => {
    expect(tell(...failed, step(2, 'started', 'a'))).toEqual([]);
    expect(tell(...failed, step(2, 'started'))).toEqual([
      'n started build b again, which had failed',
    ]);
  });

  it('should be tried once more beside what runs, and not for ever', () => {
    expect(tell(...failed, step(2, 'beside'))).toEqual([]);
    expect(tell(...failed, step(2, 'beside'), step(3, 'beside'))).toEqual([
      'n tried build b 3 times',
    ]);
    expect(tell(...failed, step(1, 'beside'))).toHaveLength(1);
  });

  it.each(['engine.forgotten', 'node.wiped'] as const)('should be excused by %s', (kind) => {
    expect(tell(...failed, { kind, node: 'n' }, step(2, 'started'))).toEqual([]);
    expect(tell(...failed, { kind, node: 'other' }, step(2, 'started'))).toHaveLength(1);
  });
});
