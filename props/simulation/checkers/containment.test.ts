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

const UNTIL_MS = 1_000_000;
const STATE = {
  ...{ sensor_id: 's', trust_state: 'trusted', renewal_status: 'ok' },
  certificate_expires_at: new Date(UNTIL_MS).toISOString(),
};

describe('containment of a node whose rules are lifted', () => {
  /** It was free, and contained for so long, under an order that nobody took back. */
  function lifted(afterMs: number): readonly string[] {
    const details: string[] = [];
    const node = {
      ...{ name: 'n', clock: { wallNow: () => 0 }, disk: { read: () => JSON.stringify(STATE) } },
    };
    const stores = { relational: { state: { sensors: new Map() } } };
    const fleet = { nodes: [node], stores } as unknown as FleetView;
    const checker = containment.make(fleet, (detail) => details.push(detail));
    const order = { act: 1, sensor: 's', wanted: 'contained' as const, untilMs: null };
    checker.observe?.({ kind: 'containment.asked', ...order }, 0);
    checker.observe?.({ kind: 'containment.placed', act: 1 }, 1);
    checker.observe?.(APPLIED, 10);
    checker.observe?.({ kind: 'filter.lifted', node: 'n' }, 10 + afterMs);
    return details;
  }

  it('should report it, unless they lay in force for no time', () => {
    expect(lifted(1)).toEqual(['n lifted its rules, and nobody let it go']);
    expect(lifted(0)).toEqual([]);
  });
});

describe('containment of a node whose clock is ahead', () => {
  function ending(aheadMs: number, wasCutOff: boolean): readonly string[] {
    const details: string[] = [];
    let nowMs = aheadMs;
    const node = {
      ...{ name: 'n', isUp: () => true, isCutOff: () => false },
      ...{ clock: { wallNow: () => nowMs }, disk: { read: () => JSON.stringify(STATE) } },
    };
    const sensors = new Map([['s', { revokedAtMs: null }]]);
    const stores = { relational: { state: { sensors } } };
    const fleet = { nodes: [node], stores } as unknown as FleetView;
    const checker = containment.make(fleet, (detail) => details.push(detail));
    const order = { act: 1, sensor: 's', wanted: 'contained' as const, untilMs: UNTIL_MS };
    checker.observe?.({ kind: 'containment.asked', ...order }, 0);
    checker.observe?.({ kind: 'containment.placed', act: 1 }, 1);
    if (wasCutOff) checker.observe?.(APPLIED, 1);
    checker.probe?.(1);
    nowMs = 0;
    checker.finish?.(2);
    return details;
  }

  it('should excuse it once an order that was carried out was over by that clock, and nobody else', () => {
    const report = 'n is not cut off, and the last order says contained';
    expect(ending(UNTIL_MS, true)).toEqual([]);
    expect(ending(UNTIL_MS, false)).toEqual([report]);
    expect(ending(0, true)).toEqual([report]);
  });
});
