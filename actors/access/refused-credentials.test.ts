// Refused credentials by example: many of one place are one row, many places are bounded, a store that is away loses none.
import { describe, expect, it } from 'vitest';
import {
  REFUSAL_PLACES_MAX,
  REFUSALS_TOLD_EVERY_MS,
} from '../../machines/console/access/limits.ts';
import type { AuditEntry } from '../../storage/ports/audit/audit-log.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createRefusedCredentials } from './refused-credentials.ts';

function setUp() {
  const timers: { run: () => void; delayMs: number }[] = [];
  const rows: AuditEntry[] = [];
  const state = { isAway: false, nowMs: 1_000 };
  const refused = createRefusedCredentials({
    audit: {
      append: async (entries) => {
        if (state.isAway) throw new Error('away');
        rows.push(...entries);
      },
    },
    timers: {
      setTimeout: (run, delayMs) => timers.push({ run, delayMs }),
      clearTimeout: () => timers.splice(0),
    },
    now: () => state.nowMs,
    logger: silentLogger,
  });
  const tick = async () => {
    for (const { run } of timers.splice(0)) run();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { refused, rows, state, timers, tick };
}

describe('refused credentials', () => {
  it('should be one row for a place and a minute, and none while nothing is refused', async () => {
    const { refused, rows, state, timers, tick } = setUp();
    expect(timers).toEqual([]);
    for (let at = 0; at < 500; at += 1) refused.note('unknown_key', '192.0.2.1');
    state.nowMs = 5_000;
    refused.note('unknown_key', '192.0.2.1');
    refused.note('dead_session', '192.0.2.1');
    expect(timers).toMatchObject([{ delayMs: REFUSALS_TOLD_EVERY_MS }]);
    await tick();

    expect(rows).toEqual([
      {
        ...{ atMs: 5_000, actor: 'anonymous', action: 'credential.refused', result: 'refused' },
        ...{ target: 'unknown_key', from: '192.0.2.1', detail: { count: 501, first_at_ms: 1_000 } },
      },
      expect.objectContaining({ target: 'dead_session' }),
    ]);
    expect(refused.totals()).toMatchObject({ unknown_key: 501, dead_session: 1, setup_code: 0 });
    expect(timers).toEqual([]);
  });

  it('should keep what the store did not take, and tell all at the end', async () => {
    const { refused, rows, state, tick } = setUp();
    state.isAway = true;
    refused.note('rate_limited', 'a');
    await tick();
    refused.note('rate_limited', 'a');
    state.isAway = false;
    await refused.close();

    expect(rows).toMatchObject([{ detail: { count: 2 } }]);
  });

  it('should count newcomers together once there are too many places', async () => {
    const { refused, rows, tick } = setUp();
    const places = REFUSAL_PLACES_MAX + 5;
    for (let at = 0; at < places; at += 1) refused.note('unknown_key', `place ${at}`);
    refused.note('unknown_key', 'place 0');
    await tick();

    expect(rows).toHaveLength(REFUSAL_PLACES_MAX + 1);
    expect(rows[0]?.detail).toMatchObject({ count: 2 });
    expect(rows.at(-1)).toMatchObject({ from: 'elsewhere', detail: { count: 5 } });
  });
});
