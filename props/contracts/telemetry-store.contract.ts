// The promises of the telemetry store: an hour counts once, with its highest counts, and adds up over state directories.
// invariant: I19; decision: D48
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventStoreUnavailable } from '../../storage/ports/telemetry/event-store.ts';
import type {
  CoverageRow,
  FlowRow,
  ResourceRow,
  TelemetryRows,
  TelemetryStore,
} from '../../storage/ports/telemetry/telemetry-store.ts';
import type { Harness } from './away.ts';
import { HOSTILE, hex, NOW_MS } from './samples.ts';

const HOUR_MS = 3_600_000;
const HOUR = Math.floor(NOW_MS / HOUR_MS) * HOUR_MS;
const NO_COUNTS = {
  seen: 0,
  kernel_lost: 0,
  engine_lost: 0,
  reader_skipped: 0,
  pipeline_dropped: 0,
  spool_discarded: 0,
  console_refused: 0,
};
const NO_ROWS: TelemetryRows = { coverage: [], resources: [], flows: [] };
const ALL = { fromMs: 0, toMs: NOW_MS + 400 * 24 * HOUR_MS };

function row(more: Partial<CoverageRow> = {}): CoverageRow {
  return {
    sensorId: randomUUID(),
    nodeName: `node-${hex(4)}`,
    streamId: hex(16),
    hourMs: HOUR,
    reportedAtMs: NOW_MS,
    ...NO_COUNTS,
    ...more,
  };
}

function flow(more: Partial<FlowRow> = {}): FlowRow {
  return {
    sensorId: randomUUID(),
    firstSeenAtMs: NOW_MS - 5_000,
    lastSeenAtMs: NOW_MS - 1_000,
    reportedAtMs: NOW_MS,
    protocol: 'tcp',
    direction: 'outbound',
    remoteIp: '2001:db8::1',
    port: 443,
    domain: HOSTILE,
    binary: HOSTILE,
    containerId: hex(32),
    connections: Number.MAX_SAFE_INTEGER,
    ...more,
  };
}

export function telemetryStoreContract(harness: Harness<TelemetryStore>): void {
  const store = harness.port;
  const hoursOf = async (sensorId: string) =>
    (await store().coverageOf({ sensorId, ...ALL })).map(({ hourMs, seen, engine_lost }) => [
      ...[hourMs, seen, engine_lost],
    ]);

  describe('coverage', () => {
    it('should count the highest of an hour, whichever comes last and whatever the clock said', async () => {
      const one = row({ seen: 5, engine_lost: 1 });
      await store().insert({ ...NO_ROWS, coverage: [one] });
      const next = { ...one, seen: 9, engine_lost: 2, reportedAtMs: NOW_MS - 9_000 };
      await store().insert({ ...NO_ROWS, coverage: [next] });
      await store().insert({ ...NO_ROWS, coverage: [{ ...one, reportedAtMs: NOW_MS + 5 }] });
      expect(await hoursOf(one.sensorId)).toEqual([[HOUR, 9, 2]]);
    });

    it('should add up what several state directories counted, and keep hours and sensors apart', async () => {
      const one = row({ seen: 5 });
      const other = row({ seen: 100 });
      const coverage = [
        one,
        { ...one, streamId: hex(16), seen: 7, engine_lost: 3 },
        { ...one, hourMs: HOUR - HOUR_MS, seen: 0, spool_discarded: 4 },
        other,
      ];
      await store().insert({ ...NO_ROWS, coverage });
      expect(await hoursOf(one.sensorId)).toEqual([
        [HOUR - HOUR_MS, 0, 0],
        [HOUR, 12, 3],
      ]);
      const span = { fromMs: HOUR, toMs: HOUR + HOUR_MS };
      const [now] = await store().coverageOf({ sensorId: one.sensorId, ...span });
      expect(now).toEqual({ hourMs: HOUR, ...NO_COUNTS, seen: 12, engine_lost: 3 });
      const before = { fromMs: HOUR - HOUR_MS, toMs: HOUR };
      expect(await store().coverageOf({ sensorId: one.sensorId, ...before })).toHaveLength(1);
    });

    it('should page over the fleet in the order of ids', async () => {
      const coverage = [row({ seen: 1 }), row({ seen: 2 }), row({ seen: 3 })];
      await store().insert({ ...NO_ROWS, coverage });
      const found: string[] = [];
      let afterSensorId: string | null = null;
      for (;;) {
        const page = await store().coverageOfFleet({ ...ALL, limit: 2, afterSensorId });
        found.push(...page.map(({ sensorId }) => sensorId));
        afterSensorId = page.at(-1)?.sensorId ?? null;
        if (page.length < 2) break;
      }
      expect(found).toEqual([...new Set(found)].sort());
      expect(found).toEqual(expect.arrayContaining(coverage.map((one) => one.sensorId)));
    });

    it('should count an hour of a state directory once, whatever identities its node had', async () => {
      const former = row({ seen: 10, engine_lost: 3 });
      const again = { ...former, sensorId: randomUUID(), seen: 25, reportedAtMs: NOW_MS + 1 };
      // Told nothing new since: what was told last has it.
      const idle = { ...again, sensorId: randomUUID(), reportedAtMs: NOW_MS + 2 };
      const image = { ...former, sensorId: randomUUID(), nodeName: 'another node', seen: 7 };
      for (const one of [idle, image, again, former]) {
        await store().insert({ ...NO_ROWS, coverage: [one] });
      }
      const all = await store().coverageOfFleet({ ...ALL, limit: 10_000, afterSensorId: null });
      const own = [former, again, idle, image].map(({ sensorId }) =>
        all.filter((one) => one.sensorId === sensorId).map((one) => [one.seen, one.engine_lost]),
      );
      expect(own).toEqual([[], [], [[25, 3]], [[7, 3]]]);
      expect(await hoursOf(former.sensorId)).toEqual([[HOUR, 10, 3]]);
    });

    it('always adds up over the fleet to what nodes have settled, under whatever identities', async () => {
      const telling = fc.record({
        node: fc.nat(2),
        hour: fc.nat(1),
        more: fc.nat(5),
        isNewIdentity: fc.boolean(),
        isToldTwice: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(telling, { minLength: 1, maxLength: 12 }), async (tellings) => {
          const rows = Array.from({ length: 3 }, () => row());
          const settled = new Map<string, number>();
          const coverage: CoverageRow[] = [];
          const ids = new Set<string>();
          for (const [at, told] of tellings.entries()) {
            const one = rows[told.node] ?? row();
            if (told.isNewIdentity) rows[told.node] = { ...one, sensorId: randomUUID() };
            const own = rows[told.node] ?? one;
            const key = `${told.node} ${told.hour}`;
            const seen = (settled.get(key) ?? 0) + told.more;
            settled.set(key, seen);
            const hourMs = HOUR - told.hour * HOUR_MS;
            const next = { ...own, seen, hourMs, reportedAtMs: NOW_MS + at };
            coverage.push(next, ...(told.isToldTwice ? [next] : []));
            ids.add(own.sensorId);
          }
          await store().insert({ ...NO_ROWS, coverage: coverage.toReversed() });
          const all = await store().coverageOfFleet({ ...ALL, limit: 10_000, afterSensorId: null });
          const own = all.filter(({ sensorId }) => ids.has(sensorId));
          const wanted = [...settled.values()].reduce((sum, seen) => sum + seen, 0);
          expect(own.reduce((sum, { seen }) => sum + seen, 0)).toBe(wanted);
        }),
        { numRuns: 15 },
      );
    });

    it('should hold counts of 53 bits and hours that no clock can mean', async () => {
      const one = row({ seen: Number.MAX_SAFE_INTEGER, hourMs: 0 });
      await store().insert({ ...NO_ROWS, coverage: [one] });
      expect(await hoursOf(one.sensorId)).toEqual([[0, Number.MAX_SAFE_INTEGER, 0]]);
    });
  });

  describe('resources and flows', () => {
    it('should come back newest first, as they were stored', async () => {
      const pipeline = {
        ...{ read: 1, normalized: 2, dropped: 3, aggregated: 4, spooled: 5, spool_depth: 6 },
        ...{ discarded: 7, sent_stream: 8, sent_heartbeat: 9, engine_lost: 10 },
      };
      const first: ResourceRow = {
        ...{ sensorId: randomUUID(), atMs: NOW_MS - 60_000, cpuPercent: 1.25, pipeline },
        ...{ memoryBytes: Number.MAX_SAFE_INTEGER, load1m: null, uptimeSeconds: null },
        node: null,
        diskFreeBytes: null,
      };
      const node = { cpuPercent: 12.5, memoryTotalBytes: 2 ** 40, memoryAvailableBytes: 2 ** 39 };
      const more = { load1m: 0.5, uptimeSeconds: 7, diskFreeBytes: 9, node };
      const second = { ...first, atMs: NOW_MS, ...more };
      await store().insert({ ...NO_ROWS, resources: [first, second] });
      const query = { sensorId: first.sensorId, ...ALL };
      expect(await store().resourcesOf({ ...query, limit: 9 })).toEqual([second, first]);
      expect(await store().resourcesOf({ ...query, limit: 1 })).toEqual([second]);
    });

    it('should take a flow that grew in the place of what it was', async () => {
      const one = flow({ connections: 3 });
      const other = flow({ sensorId: one.sensorId, port: 53, lastSeenAtMs: NOW_MS - 2_000 });
      await store().insert({ ...NO_ROWS, flows: [one, other] });
      const grown = { ...one, lastSeenAtMs: NOW_MS, reportedAtMs: NOW_MS + 1, connections: 12 };
      await store().insert({ ...NO_ROWS, flows: [grown] });
      const query = { sensorId: one.sensorId, ...ALL };
      expect(await store().flowsOf({ ...query, limit: 9 })).toEqual([grown, other]);
      expect(await store().flowsOf({ ...query, toMs: NOW_MS, limit: 9 })).toEqual([other]);
      // Told while another clock was behind, or again.
      const late = { ...grown, reportedAtMs: NOW_MS - 60_000, connections: 11 };
      const more = { ...grown, reportedAtMs: NOW_MS - 60_000, connections: 13 };
      await store().insert({ ...NO_ROWS, flows: [more, late] });
      expect(await store().flowsOf({ ...query, limit: 9 })).toEqual([
        { ...grown, connections: 13 },
        other,
      ]);
    });
  });

  it('should say that it is away and take nothing', async () => {
    const one = row({ seen: 1 });
    await harness.setAway(true);
    await expect(store().insert({ ...NO_ROWS, coverage: [one] })).rejects.toThrow(
      EventStoreUnavailable,
    );
    await expect(hoursOf(one.sensorId)).rejects.toThrow(EventStoreUnavailable);
    await harness.setAway(false);
    expect(await hoursOf(one.sensorId)).toEqual([]);
  });
}
