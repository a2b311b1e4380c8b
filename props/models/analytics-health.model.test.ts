// The health of the analytics database beside a small model: what two looks in a row say. decision: D155
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { analyticsHealthMachine } from '../../machines/console/telemetry/analytics-health.machine.ts';
import { type Driven, drive, itsMachineAgrees, move } from './driver.ts';

type At = 'unknown' | 'healthy' | 'degraded' | 'away';
type Model = { at: At; last: At | null };
type Real = Driven<typeof analyticsHealthMachine>;

const look = (says: At, more: object) =>
  move<Model, Real>(says, (model, real) => {
    const reading = {
      ...{ atMs: 1, pingMs: 1, insertMs: 5, queryMs: 5, parts: 1, partsMost: 1, merges: 0 },
      ...{ longestMergeMs: 0, diskFreeBytes: 50, diskTotalBytes: 100, queuedRows: 0, ...more },
    };
    real.send({ type: 'store.looked', reading } as never);
    if (model.last === says) model.at = says;
    model.last = says;
  });

describe('the health of the analytics database', () => {
  itsMachineAgrees(analyticsHealthMachine, {
    input: fc.constant(undefined),
    begin: () => ({
      model: { at: 'unknown', last: null } as Model,
      real: drive(analyticsHealthMachine),
    }),
    moves: [
      look('healthy', {}),
      look('degraded', { diskFreeBytes: 5 }),
      look('degraded', { insertMs: 60_000 }),
      look('away', { pingMs: null }),
      look('away', { insertMs: null }),
    ],
    agree(model, real) {
      expect(real.snapshot().value).toBe(model.at);
      expect(real.nextTimerMs()).toBeNull();
    },
  });
});
