// The promises of the event store: what was taken is found, counted once, and said to be stored. invariant: I9;
// decision: D6, D8
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type EventSink,
  type EventStore,
  EventStoreUnavailable,
  type TransitionQuery,
} from '../../storage/ports/telemetry/event-store.ts';
import { storedEventOf } from '../../storage/ports/telemetry/stored-event.ts';
import type { Harness } from './away.ts';
import { eventConditionsContract } from './event-conditions.contract.ts';
import { eventPagesContract } from './event-pages.contract.ts';
import { batch, event, HOSTILE, hex, NOW_MS } from './samples.ts';

const TRANSITION = {
  actorKind: 'sensor',
  region: 'trust',
  from: '',
  to: 'a',
  event: 'x',
  facts: { text: HOSTILE },
  atMs: NOW_MS,
  after: {
    value: { trust: 'a' },
    context: { text: HOSTILE, nowMs: NOW_MS },
    timers: [{ state: 'trust.a', delay: 'd', targets: ['trust.b'], dueMs: NOW_MS + 1 }],
    machine: 'abc',
  },
};

export function eventStoreContract(
  harness: Harness<{ readonly sink: EventSink; readonly events: EventStore }>,
): void {
  const stores = harness.port;
  eventConditionsContract(harness);
  eventPagesContract(harness);
  describe('events', () => {
    it('should come back as they were stored, hostile text and 64-bit numbers included', async () => {
      const { sink, events } = stores();
      const whole = event({
        observed_at: new Date(NOW_MS).toISOString().replace('Z', '456789Z'),
        message: HOSTILE,
        process: {
          exec_id: 'a',
          pid: Number.MAX_SAFE_INTEGER,
          binary: HOSTILE,
          start_time: '2026-01-01T00:00:00Z',
        },
        ancestors: [{ exec_id: 'b', pid: 1, binary: '/sbin/init' }],
        network: { protocol: 'tcp', direction: 'outbound', destination_port: 443 },
        file: { path: '', operation: 'read' },
        anomaly_score: 0.25,
        occurrences: 0,
      });
      const unreal = event({ observed_at: '9999-99-99T99:99:99Z', message: 'half \ud83d' });
      const forged = { ...event(), sensor_id: 'another', sequence: 99, process: undefined };
      const one = batch({ events: [whole, unreal, forged as never] });
      expect(await sink.append(one)).toEqual({ ok: true });
      const found = await events.search({ sensorId: one.sensorId, limit: 10 });
      const wanted = one.events.map((each) => storedEventOf(one, each));
      const byId = (a: { event_id: string }, b: { event_id: string }) =>
        a.event_id < b.event_id ? -1 : 1;
      expect([...found].sort(byId)).toEqual([...wanted].sort(byId));
      const text = await events.search({ sensorId: one.sensorId, text: HOSTILE, limit: 10 });
      expect(text.map((each) => each.event_id)).toEqual([whole.event_id]);
    });

    it('should be read by their receipt, page by page, each for every time it was received', async () => {
      const { sink, events } = stores();
      const sensorId = randomUUID();
      const atMs = NOW_MS - Math.floor(Math.random() * 1_000_000);
      const times = [atMs, atMs + 1, atMs + 1, atMs + 7];
      const stored = times.map((receivedAtMs, at) =>
        batch({ sensorId, sequence: at + 1, receivedAtMs, events: [event(), event(), event()] }),
      );
      // Stored in another order than received.
      for (const one of stored.toReversed()) expect(await sink.append(one)).toEqual({ ok: true });
      const condition = { is: 'among', field: 'sensor_id', values: [sensorId] } as const;
      const wanted = stored
        .flatMap((one) => one.events.map(({ event_id: id }) => ({ at: one.receivedAtMs, id })))
        .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
      const found: { readonly at: number; readonly id: string }[] = [];
      for (let after = { receivedAtMs: atMs, eventId: '' }; ; ) {
        const page = await events.receivedAfter({ after, beforeMs: atMs + 8, condition, limit: 4 });
        found.push(...page.map((one) => ({ at: Date.parse(one.received_at), id: one.event_id })));
        const last = found.at(-1);
        if (page.length < 4 || last === undefined) break;
        after = { receivedAtMs: last.at, eventId: last.id };
      }
      expect(found).toEqual(wanted);
      const early = { after: { receivedAtMs: atMs, eventId: '' }, condition, limit: 99 };
      const before = await events.receivedAfter({ ...early, beforeMs: atMs + 7 });
      expect(before).toHaveLength(9);
    });

    it('should be counted and found once when they come twice', async () => {
      const { sink, events } = stores();
      const one = batch();
      const repeat = { ...one, channel: 'heartbeat' as const, digest: hex(32) };
      expect(await Promise.all([sink.append(one), sink.append(one), sink.append(repeat)])).toEqual(
        Array.from({ length: 3 }, () => ({ ok: true })),
      );
      expect(await events.countDistinct({ sensorId: one.sensorId })).toBe(2);
      expect(await events.search({ sensorId: one.sensorId, limit: 10 })).toHaveLength(2);
      const mine = (await events.storedRanges()).filter((r) => r.sensorId === one.sensorId);
      expect(mine).toHaveLength(2);
    });

    it('should be counted over time by severity, each once, within the range', async () => {
      const { sink, events } = stores();
      const at = (ms: number, severity: 'low' | 'high') =>
        event({ observed_at: new Date(NOW_MS + ms).toISOString(), severity });
      const one = batch({
        events: [at(-1, 'high'), at(0, 'low'), at(999, 'high'), at(1_000, 'low'), at(3_999, 'low')],
      });
      const last = at(3_000, 'low');
      const later = { ...one, sequence: one.sequence + 1, events: [last, last, at(4_000, 'low')] };
      for (const each of [one, one, later]) await sink.append(each);
      const asked = { sensorId: one.sensorId, fromMs: NOW_MS, toMs: NOW_MS + 4_000 };
      expect(await events.histogram({ ...asked, bucketMs: 1_000 })).toEqual([
        { fromMs: NOW_MS, events: 2, bySeverity: { high: 1, low: 1 } },
        { fromMs: NOW_MS + 1_000, events: 1, bySeverity: { low: 1 } },
        { fromMs: NOW_MS + 3_000, events: 2, bySeverity: { low: 2 } },
      ]);
      const high = { ...asked, severities: ['high' as const], bucketMs: 4_000 };
      expect(await events.histogram(high)).toEqual([
        { fromMs: NOW_MS, events: 1, bySeverity: { high: 1 } },
      ]);
      expect(await events.histogram({ ...asked, toMs: NOW_MS, bucketMs: 1_000 })).toEqual([]);
    });

    it('should page without a gap or a repeat', async () => {
      const { sink, events } = stores();
      const same = Array.from({ length: 25 }, () => event());
      const one = batch({ events: same });
      await sink.append(one);
      const seen: string[] = [];
      let after: { observedAt: string; eventId: string } | null = null;
      for (;;) {
        const page = await events.search({ sensorId: one.sensorId, limit: 10, after });
        seen.push(...page.map((each) => each.event_id));
        const last = page.at(-1);
        if (last === undefined) break;
        after = { observedAt: last.observed_at, eventId: last.event_id };
      }
      expect(seen).toEqual(
        same
          .map((each) => each.event_id)
          .sort()
          .reverse(),
      );
    });

    it('should say which batches are stored, with their gaps and content', async () => {
      const { sink, events } = stores();
      const one = batch();
      for (const sequence of [1, 2, 3, 5, 9, 10]) {
        await sink.append({ ...one, sequence, digest: `d${sequence}`, events: [event()] });
      }
      const mine = (await events.storedRanges()).filter((r) => r.sensorId === one.sensorId);
      expect(mine.map(({ first, last }) => [first, last])).toEqual([
        [1, 3],
        [5, 5],
        [9, 10],
      ]);
      expect(await events.batchDigest({ ...one, sequence: 5 })).toBe('d5');
      expect(await events.batchDigest({ ...one, sequence: 4 })).toBeNull();
    });
  });

  it('should give transitions newest first, those of one instant too', async () => {
    const { events } = stores();
    const sensorId = randomUUID();
    const rows = ['a', 'b', 'c'].map((to) => ({ ...TRANSITION, sensorId, to }));
    await events.insertTransitions(rows);
    expect(await events.transitionsOf({ sensorId, limit: 10 })).toEqual([...rows].reverse());
    expect(await events.transitionsOf({ sensorId, limit: 10, beforeMs: NOW_MS })).toEqual([]);
  });

  it('should keep what an actor was after a move, and give moves of a span and a kind', async () => {
    const { events } = stores();
    const sensorId = randomUUID();
    const rows = [0, 1, 2, 3].map((later) => ({
      ...TRANSITION,
      ...{ sensorId, to: `${later}`, atMs: NOW_MS + later },
      actorKind: later === 2 ? 'node/stream' : 'sensor',
      after: later === 2 ? null : TRANSITION.after,
    }));
    await events.insertTransitions(rows);
    const asked = async (more: Partial<TransitionQuery>) =>
      (await events.transitionsOf({ sensorId, limit: 10, ...more })).map(({ to }) => to);
    expect(await events.transitionsOf({ sensorId, limit: 10 })).toEqual([...rows].reverse());
    expect(await asked({ fromMs: NOW_MS + 1, beforeMs: NOW_MS + 3 })).toEqual(['2', '1']);
    expect(await asked({ actorKind: 'sensor', limit: 2 })).toEqual(['3', '1']);
    expect(await asked({ actorKind: HOSTILE })).toEqual([]);
  });

  it('should keep the order of many moves of one instant', async () => {
    const { events } = stores();
    const sensorId = randomUUID();
    const rows = Array.from({ length: 2_500 }, (_, i) => ({ ...TRANSITION, sensorId, to: `${i}` }));
    await events.insertTransitions(rows);
    const found = await events.transitionsOf({ sensorId, limit: 2_500 });
    expect(found.map(({ to }) => to)).toEqual(rows.map(({ to }) => to).reverse());
  });

  it('should find nothing where nothing fits, and never take a value for a statement', async () => {
    const { sink, events } = stores();
    const one = batch({ events: [event({ severity: 'critical', message: 'Grün' })] });
    await sink.append(one);
    const mine = { sensorId: one.sensorId, limit: 10 };
    const counts = await Promise.all(
      [
        { severities: ['critical'] as const },
        { text: 'grÜN' },
        { binaryContains: 'BIN/id' },
        { fromMs: NOW_MS, toMs: NOW_MS + 1 },
        { severities: ['info'] as const },
        { severities: [] },
        { text: HOSTILE },
        { toMs: NOW_MS },
        { sensorId: `${one.sensorId}' OR 1 = 1 --` },
      ].map(async (query) => (await events.search({ ...mine, ...query })).length),
    );
    expect(counts).toEqual([1, 1, 1, 1, 0, 0, 0, 0, 0]);
  });

  it('should take a retention of whole days only, twice like once', async () => {
    const { events } = stores();
    for (const days of [0, 1.5, Number.NaN]) {
      await expect(events.setRetentionDays(days)).rejects.toThrow('whole days');
    }
    for (const days of [30, 30, 90]) await events.setRetentionDays(days);
    expect(await events.ping()).toBe(true);
  });

  it('should say when it is away, and answer again by itself', async () => {
    const { events } = stores();
    const one = batch();
    const calls = [
      () => events.search({ limit: 1 }),
      () => events.countDistinct({}),
      () => events.histogram({ fromMs: 0, toMs: 1, bucketMs: 1 }),
      () => events.topValues({ field: 'severity', limit: 1 }),
      () => events.policyMatches({ fromMs: 0, toMs: 1, sensorIds: [], policies: [] }),
      () => events.storedRanges(),
      () => events.batchDigest(one),
      () => events.insertTransitions([{ ...TRANSITION, sensorId: one.sensorId }]),
      () => events.transitionsOf({ sensorId: one.sensorId, limit: 1 }),
      () => events.setRetentionDays(90),
    ];
    await harness.setAway(true);
    for (const call of calls) await expect(call()).rejects.toThrow(EventStoreUnavailable);
    expect(await events.ping()).toBe(false);
    await harness.setAway(false);
    for (const call of calls) await call();
    expect(await events.ping()).toBe(true);
  });
}
