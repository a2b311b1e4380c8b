import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_INTERVALS } from '../../machines/intervals.ts';
import type { HeartbeatRequest } from '../../machines/wire/heartbeat.ts';
import { EventStoreUnavailable } from '../../storage/ports/telemetry/event-store.ts';
import type { TelemetryRows } from '../../storage/ports/telemetry/telemetry-store.ts';
import { silentLogger } from '../runtime/silent-logger.ts';
import { createTelemetry, type Telemetry } from './telemetry.ts';

const NOW_MS = Date.parse('2026-03-01T12:34:56.000Z');
const RUN = '0123456789abcdef';
const S = { sensorId: 's', nodeName: 'n' };
let running: Telemetry | null = null;
afterEach(async () => {
  await running?.close();
  running = null;
});

function beat(report: number, hours: Record<string, number>): HeartbeatRequest {
  const told = Object.entries(hours).map(([hour, seen]) => ({ hour, seen }));
  return {
    stream_id: 'a'.repeat(32),
    flows: [],
    resources: { cpu_percent: 1, memory_bytes: 2 },
    pipeline: {},
    loss: { run: RUN, report, total: {}, hours: told },
  } as unknown as HeartbeatRequest;
}

/** A service whose store is told what to do, and whose time is asked for. */
function start(more: { readonly queueRowsMax?: number } = {}) {
  const inserts: TelemetryRows[] = [];
  const store = { isAway: false };
  const telemetry = createTelemetry({
    store: {
      async insert(rows) {
        if (store.isAway) throw new EventStoreUnavailable('away');
        inserts.push(rows);
      },
    },
    intervals: DEFAULT_INTERVALS,
    logger: silentLogger,
    ...more,
  });
  running = telemetry;
  const tick = () => telemetry.loop.run({ signal: new AbortController().signal });
  const seen = () => inserts.flatMap((rows) => rows.coverage.map((row) => row.seen));
  return { telemetry, store, inserts, tick, seen };
}

const [ONE, TWO] = ['2026-03-01T11:00:00.000Z', '2026-03-01T12:00:00.000Z'];

describe('telemetry', () => {
  it('should confirm a report only when its hours are stored', async () => {
    const { telemetry, tick, seen } = start();
    telemetry.observe(S, beat(1, { [ONE]: 5, [TWO]: 6 }), NOW_MS);
    expect(telemetry.storedReport('s')).toBeUndefined();
    await tick();
    expect(telemetry.storedReport('s')).toEqual({ run: RUN, report: 1 });
    expect(seen()).toEqual([5, 6]);
  });

  it('should write the latest of an hour once, however often it was told', async () => {
    const { telemetry, tick, seen } = start();
    for (let report = 1; report <= 9; report += 1) {
      telemetry.observe(S, beat(report, { [ONE]: report }), NOW_MS);
    }
    expect(telemetry.queuedRows()).toBe(2);
    await tick();
    expect(seen()).toEqual([9]);
    expect(telemetry.storedReport('s')?.report).toBe(9);
  });

  it('should keep hours while the store is away, later reports over earlier ones', async () => {
    const { telemetry, store, tick, seen } = start();
    store.isAway = true;
    telemetry.observe(S, beat(1, { [ONE]: 1, [TWO]: 2 }), NOW_MS);
    await expect(tick()).rejects.toThrow('away');
    telemetry.observe(S, beat(2, { [TWO]: 20 }), NOW_MS);
    await expect(tick()).rejects.toThrow('away');
    expect(telemetry.storedReport('s')).toBeUndefined();
    store.isAway = false;
    await tick();
    expect(seen().sort()).toEqual([1, 20]);
    expect(telemetry.storedReport('s')?.report).toBe(2);
    expect(telemetry.queuedRows()).toBe(0);
  });

  it('should take no report that has no room, and confirm it no more than any other', async () => {
    const { telemetry, tick, seen } = start({ queueRowsMax: 2 });
    telemetry.observe(S, beat(1, { [ONE]: 1 }), NOW_MS);
    telemetry.observe({ sensorId: 't', nodeName: 'n2' }, beat(1, { [ONE]: 1, [TWO]: 2 }), NOW_MS);
    expect(telemetry.queuedRows()).toBe(2);
    expect(telemetry.dropped()).toBe(1);
    await tick();
    expect(seen()).toEqual([1]);
    expect(telemetry.storedReport('t')).toBeUndefined();
  });

  it('should sample resources once a minute, and write what waits when it closes', async () => {
    const { telemetry, inserts } = start();
    for (const second of [0, 15, 30, 45, 60, 75]) {
      telemetry.observe(S, beat(1, {}), NOW_MS + second * 1_000);
    }
    await telemetry.close();
    expect(inserts.flatMap((rows) => rows.resources.map((row) => row.atMs))).toEqual([
      NOW_MS,
      NOW_MS + 60_000,
    ]);
    telemetry.observe(S, beat(2, { [ONE]: 1 }), NOW_MS + 120_000);
    expect(telemetry.queuedRows()).toBe(0);
  });
});
