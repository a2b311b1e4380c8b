import { describe, expect, it } from 'vitest';
import { initialTransition } from 'xstate';
import { sensorMachine } from '../../../machines/console/fleet/sensor.machine.ts';
import { triables, whatIf } from './what-if.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const [start] = initialTransition(sensorMachine, {
  ...{ sensorId: 's', nowMs: NOW_MS, knownSinceMs: NOW_MS, notAfterMs: NOW_MS + 30 * 86_400_000 },
  ...{ revokedAtMs: null, lastHeartbeatAtMs: null, reportedTrustState: null, engineState: null },
  ...{ lastTrustErrorAtMs: null, lastConnectionErrorAtMs: null },
  windows: {
    recommendedMs: 259_200_000,
    dueMs: 86_400_000,
    trustErrorMs: 900_000,
    stalenessMs: 90_000,
  },
});
const value = start.value as Readonly<Record<string, string>>;

describe('what if', () => {
  it('should tell where an event leads, and leave what it began with alone', () => {
    const before = JSON.stringify([value, start.context]);
    const { moves, context } = whatIf(value, start.context, triables(NOW_MS)['sensor.revoked']);
    expect(moves).toEqual([['trust', 'trusted', 'revoked']]);
    expect(context.revokedAtMs).toBe(NOW_MS);
    expect(JSON.stringify([value, start.context])).toBe(before);
  });

  it('should take every event it offers', () => {
    for (const event of Object.values(triables(NOW_MS))) {
      expect(() => whatIf(value, start.context, event)).not.toThrow();
    }
  });

  it('should name the timers that would run', () => {
    const { effects } = whatIf(value, start.context, triables(NOW_MS)['heartbeat.received']);
    expect(effects.join(' ')).toMatch(/in 90000 ms/);
  });
});
