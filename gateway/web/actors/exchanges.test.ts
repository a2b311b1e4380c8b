import { describe, expect, it } from 'vitest';
import type { SensorMove } from '../api/contract.ts';
import { exchangesOf } from './exchanges.ts';
import { NODE_TREES, statesIn } from './node-trees.ts';

const move = (more: Partial<SensorMove>): SensorMove => ({
  ...{ kind: 'sensor', region: 'stream', from: 'closed', to: 'open', event: 'stream.opened' },
  ...{ facts: {}, at: '2026-01-01T00:00:00.000Z', after: null },
  ...more,
});

describe('what went between a node and its Console', () => {
  it('should tell what one event moved as one message', () => {
    const fresh = move({ region: 'freshness', from: 'awaiting', to: 'fresh' });
    expect(exchangesOf([move({}), fresh])).toEqual([
      {
        ...{ at: '2026-01-01T00:00:00.000Z', way: 'up', words: 'opens its stream' },
        more: 'stream closed → open, freshness awaiting → fresh',
      },
    ]);
  });

  it('should tell apart what came down, and what each side did by itself', () => {
    const revoked = move({ event: 'sensor.revoked', region: 'trust', facts: { reason: 'stolen' } });
    const timer = move({ event: 'xstate.after.untilStaleMs.sensor.freshness.fresh' });
    const node = move({ kind: 'node/engine', region: '', from: '', to: 'running' });
    expect(exchangesOf([revoked, timer, node]).map(({ way, words }) => [way, words])).toEqual([
      ['down', 'revokes the identity'],
      ['console', 'after untilStaleMs'],
      ['node', 'engine'],
    ]);
  });

  it('should light every state around a reported one, of a chart that has them', () => {
    expect(statesIn('open.delivery.resting open.watch')).toEqual([
      ...['open', 'open.delivery', 'open.delivery.resting', 'open.watch'],
    ]);
    expect(statesIn('')).toEqual([]);
    expect(Object.keys(NODE_TREES)).toHaveLength(6);
  });
});
