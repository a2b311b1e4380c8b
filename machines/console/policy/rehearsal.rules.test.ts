import { describe, expect, it } from 'vitest';
import { type PolicyMatch, rehearsedOf } from './rehearsal.rules.ts';

const match = (policy: string, action: string, more: Partial<PolicyMatch> = {}): PolicyMatch => ({
  ...{ sensorId: 'a', policy, action, events: 1, lastAtMs: 1, ...more },
});

describe('rehearsedOf', () => {
  it('should tell what would have been done apart from what only matched', () => {
    const found = rehearsedOf(
      ['shadow', 'quiet'],
      [
        match('shadow', 'monitored.sigkill', { events: 3, lastAtMs: 7 }),
        match('shadow', 'monitored.override', { sensorId: 'b', events: 5, lastAtMs: 9 }),
        match('shadow', 'post', { events: 10, lastAtMs: 8 }),
        match('shadow', 'sigkill', { sensorId: 'c', events: 1 }),
        match('stranger', 'monitored.sigkill'),
      ],
    );
    expect(found).toEqual([
      { name: 'quiet', matched: 0, wouldHaveActed: 0, acts: {}, lastAtMs: null, sensors: [] },
      {
        ...{ name: 'shadow', matched: 19, wouldHaveActed: 8, lastAtMs: 9 },
        acts: { sigkill: 3, override: 5 },
        sensors: [
          { sensorId: 'b', matched: 5, wouldHaveActed: 5, lastAtMs: 9 },
          { sensorId: 'a', matched: 13, wouldHaveActed: 3, lastAtMs: 8 },
          { sensorId: 'c', matched: 1, wouldHaveActed: 0, lastAtMs: 1 },
        ],
      },
    ]);
  });
});
