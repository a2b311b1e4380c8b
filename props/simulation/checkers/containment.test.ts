// Who asked before its rules were back: the life that began after the power was lost, and nobody else under its certificate.
import { describe, expect, it } from 'vitest';
import type { Observation } from '../world/observation.ts';
import type { FleetView } from './checker.ts';
import { containment } from './containment.ts';

const NO_FLEET = {
  nodes: [],
  stores: { relational: { state: { sensors: new Map() } } },
} as unknown as FleetView;

const asked = (host: string, incarnation: number): Observation => ({
  kind: 'request.accepted',
  console: 'c',
  from: { host, incarnation },
  askedAtMs: 0,
  consoleNowMs: 0,
  path: '/sensors/heartbeat',
  fingerprint: 'f',
});
const APPLIED: Observation = { kind: 'filter.applied', node: 'n' };
const POWER_LOST: Observation = {
  ...{ kind: 'process.ended', host: 'n', incarnation: 1 },
  ...{ how: 'power_lost', reason: '' },
};

function found(...story: readonly Observation[]): readonly string[] {
  const details: string[] = [];
  const checker = containment.make(NO_FLEET, (detail) => details.push(detail));
  for (const [atMs, seen] of story.entries()) checker.observe?.(seen, atMs);
  return details;
}

describe('containment after a lost power', () => {
  it('should report what the next life asks before its rules are back, and nothing later', () => {
    const report = 'n asked for /sensors/heartbeat before its rules were back';
    expect(found(APPLIED, POWER_LOST, asked('n', 2))).toEqual([report]);
    expect(found(APPLIED, POWER_LOST, APPLIED, asked('n', 2))).toEqual([]);
  });

  it('should not take a copy or a request that was under way for the node', () => {
    expect(found(APPLIED, POWER_LOST, asked('n~1', 1), asked('n', 1))).toEqual([]);
  });
});
