// A copy carries out what its image was given, whatever becomes of its original, and nothing else.
import { describe, expect, it } from 'vitest';
import type { Observation } from '../world/observation.ts';
import type { FleetView } from './checker.ts';
import { packsInForce } from './packs-in-force.ts';

const diskOf = (sensor: string) => ({
  read: () => Buffer.from(JSON.stringify({ sensor_id: sensor })),
});
const FLEET = {
  nodes: [{ name: 'n', disk: diskOf('s') }],
  copies: { all: () => [] },
  stores: { relational: { sensorOf: () => 's' } },
} as unknown as FleetView;
const WISH = { pack: 'p', version: 1, mode: 'monitor' };

const STORY = [
  {
    kind: 'pack.published',
    published: { ...WISH, policies: [{ name: 'one', digest: 'd' }], rollbackTo: [] },
  },
  { kind: 'pack.asked', target: 'fleet:fleet', wish: WISH },
] as unknown as readonly Observation[];
const OFFERED = { kind: 'pack.offered', fingerprint: 'f', wish: WISH } as unknown as Observation;
const COPIED: Observation = { kind: 'node.copied', node: 'n', copy: 'n~1', sensor: 's' };
const WIPED: Observation = { kind: 'node.wiped', node: 'n' };
const IN_FORCE = {
  kind: 'policies.in_force',
  node: 'n~1',
  policies: [{ name: 'one', mode: 'monitor', digest: 'd' }],
} as unknown as Observation;

function found(...story: readonly Observation[]): readonly string[] {
  const details: string[] = [];
  const checker = packsInForce.make(FLEET, (detail) => details.push(detail));
  for (const seen of [...STORY, ...story]) checker.observe?.(seen, 0);
  return details;
}

describe('packs in force on a copy', () => {
  it('should be what its image was given, though the original was made anew', () => {
    expect(found(OFFERED, COPIED, WIPED, IN_FORCE)).toEqual([]);
  });

  it('should be nothing that was given to neither', () => {
    const report = 'the engine of n~1 carries out one monitor: version 1, which it was never given';
    expect(found(COPIED, IN_FORCE)).toEqual([report]);
  });
});
