// One condition means one thing: the event store finds exactly the events that the predicate is true of, and counts them
// over time and by value as anybody would who had them all. decision: D97
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCondition } from '../../machines/detection/condition-parser.ts';
import { conditionText } from '../../machines/detection/condition-text.ts';
import type { FieldName } from '../../machines/detection/fields.ts';
import { predicateOf } from '../../machines/detection/predicate.ts';
import type { EventSink, EventStore } from '../../storage/ports/telemetry/event-store.ts';
import { storedEventOf } from '../../storage/ports/telemetry/stored-event.ts';
import type { Harness } from './away.ts';
import { conditionEvents, conditions } from './conditions.ts';
import { batch, event, NOW_MS } from './samples.ts';

const DRAWN_EVENTS = 120;
const DRAWN_CONDITIONS = 150;
const LONG_MS = 180_000;
/** More than an event store follows at once. */
const MANY_VALUES = 5_000;

export function eventConditionsContract(
  harness: Harness<{ readonly sink: EventSink; readonly events: EventStore }>,
): void {
  const stores = harness.port;

  it(
    'should find exactly the events that a condition is true of',
    async () => {
      const { sink, events } = stores();
      const one = batch({ events: fc.sample(conditionEvents, DRAWN_EVENTS) });
      expect(await sink.append(one)).toEqual({ ok: true });
      const all = one.events.map((each) => storedEventOf(one, each));
      let found = 0;
      for (const condition of fc.sample(conditions, DRAWN_CONDITIONS)) {
        const wanted = all.filter(predicateOf(condition)).map(({ event_id }) => event_id);
        const query = { sensorId: one.sensorId, condition, limit: DRAWN_EVENTS + 1 };
        const got = (await events.search(query)).map(({ event_id }) => event_id);
        expect({ condition: conditionText(condition), ids: got.sort() }).toEqual({
          condition: conditionText(condition),
          ids: wanted.sort(),
        });
        found += got.length;
      }
      expect(found).toBeGreaterThan(DRAWN_CONDITIONS);
    },
    LONG_MS,
  );

  it('should count what policies matched, by sensor, policy and action', async () => {
    const { sink, events } = stores();
    const at = (ms: number) => new Date(NOW_MS + ms).toISOString();
    const of = (ms: number, name: string, action: string) =>
      event({ observed_at: at(ms), policy: { name, action } });
    const [one, two] = [
      batch({
        events: [
          of(0, 'shadow', 'monitored.sigkill'),
          of(10, 'shadow', 'monitored.sigkill'),
          of(20, 'shadow', 'post'),
          of(30, 'other', 'post'),
          of(5_000, 'shadow', 'post'),
          event({ observed_at: at(40) }),
        ],
      }),
      batch({ events: [of(50, 'shadow', 'sigkill')] }),
    ];
    for (const each of [one, two]) await sink.append(each);
    // What comes twice counts once.
    await sink.append({ ...one, channel: 'heartbeat' });
    const ask = (sensorIds: readonly string[]) =>
      events.policyMatches({
        ...{ fromMs: NOW_MS, toMs: NOW_MS + 1_000, sensorIds, policies: ['shadow', 'nobody'] },
      });
    const mine = { sensorId: one.sensorId, policy: 'shadow' };
    const found = [...(await ask([one.sensorId, two.sensorId]))];
    found.sort((a, b) => b.events - a.events || (a.action < b.action ? -1 : 1));
    expect(found).toEqual([
      { ...mine, action: 'monitored.sigkill', events: 2, lastAtMs: NOW_MS + 10 },
      { ...mine, action: 'post', events: 1, lastAtMs: NOW_MS + 20 },
      { ...mine, sensorId: two.sensorId, action: 'sigkill', events: 1, lastAtMs: NOW_MS + 50 },
    ]);
    expect(await ask([randomUUID()])).toEqual([]);
  });

  describe('a histogram and top values', () => {
    const sample = async () => {
      const { sink } = stores();
      const at = (ms: number) => new Date(NOW_MS + ms).toISOString();
      const told = [
        event({ observed_at: at(0), severity: 'high', message: 'wanted' }),
        event({ observed_at: at(999), message: 'wanted' }),
        event({ observed_at: at(2_500), message: 'wanted', process: undefined as never }),
        event({ observed_at: at(2_600), message: 'other' }),
      ];
      const first = told[0] ?? event();
      const ancestor = { exec_id: 'x', pid: 1, binary: '/sbin/init' };
      told[0] = { ...first, ancestors: [ancestor, ancestor, { ...ancestor, binary: '/bin/sh' }] };
      const one = batch({ events: told });
      // What comes twice counts once.
      await sink.append(one);
      await sink.append({ ...one, channel: 'heartbeat' });
      const read = parseCondition('wanted');
      if (!read.ok) throw new Error(read.detail);
      const scope = { sensorId: one.sensorId, condition: read.condition };
      return { scope, fromMs: NOW_MS, toMs: NOW_MS + 5_000 };
    };

    it('should count each event once, in its stretch of time', async () => {
      const { scope, ...range } = await sample();
      const bars = await stores().events.histogram({ ...scope, ...range, bucketMs: 1_000 });
      expect(bars).toEqual([
        { fromMs: NOW_MS, events: 2, bySeverity: { high: 1, info: 1 } },
        { fromMs: NOW_MS + 2_000, events: 1, bySeverity: { info: 1 } },
      ]);
    });

    it('should count the values of a field, of events that have it', async () => {
      const { scope } = await sample();
      const top = (field: FieldName, limit = 10) =>
        stores().events.topValues({ ...scope, field, limit });
      expect(await top('process.binary')).toEqual({
        values: [{ value: '/usr/bin/id', events: 2 }],
        ...{ events: 2, distinct: 1 },
      });
      expect(await top('severity')).toEqual({
        values: [
          { value: 'info', events: 2 },
          { value: 'high', events: 1 },
        ],
        ...{ events: 3, distinct: 2 },
      });
      expect(await top('ancestors.binary', 1)).toEqual({
        values: [{ value: '/bin/sh', events: 1 }],
        ...{ events: 1, distinct: 2 },
      });
      expect(await top('network.domain')).toEqual({ values: [], events: 0, distinct: 0 });
      const nobody = { sensorId: randomUUID(), field: 'severity', limit: 3 } as const;
      expect((await stores().events.topValues(nobody)).events).toBe(0);
    });
  });

  it('should name the most frequent of very many values, and tell how many there are', async () => {
    const { sink, events } = stores();
    const of = (binary: string) => event({ process: { exec_id: 'x', pid: 1, binary } });
    const one = batch({
      events: [
        ...Array.from({ length: MANY_VALUES }, (_, n) => of(`/bin/rare-${n}`)),
        ...Array.from({ length: 30 }, () => of('/bin/often')),
      ],
    });
    await sink.append(one);
    const { sensorId } = one;
    const top = await events.topValues({ sensorId, field: 'process.binary', limit: 2 });
    expect(top.values[0]).toEqual({ value: '/bin/often', events: 30 });
    expect(top.values[1]?.events).toBe(1);
    expect(Math.abs(top.distinct - MANY_VALUES - 1)).toBeLessThan(MANY_VALUES / 50);
    expect(Math.abs(top.events - MANY_VALUES - 30)).toBeLessThan(MANY_VALUES / 50);
  });

  it('should count what was received when, each event once in its stretch', async () => {
    const { sink, events } = stores();
    const told = Array.from({ length: 5 }, () => event({ message: 'reads on' }));
    const at = Math.ceil(NOW_MS / 1_000) * 1_000;
    const one = batch({ events: told.slice(0, 3), receivedAtMs: at + 100 });
    await sink.append(one);
    await sink.append({ ...one, channel: 'heartbeat', receivedAtMs: at + 400 });
    const { sensorId } = one;
    const late = batch({ sensorId, events: told.slice(2), receivedAtMs: at + 2_500 });
    await sink.append(late);
    const read = parseCondition('"reads on"');
    if (!read.ok) throw new Error(read.detail);
    const scope = { sensorId, condition: read.condition, bucketMs: 1_000, idsMax: 10 };
    const ask = (receivedFromMs: number, receivedToMs: number) =>
      events.received({ ...scope, receivedFromMs, receivedToMs });
    const [first, second] = await ask(at, at + 3_000);
    expect([first?.fromMs, first?.events]).toEqual([at, 3]);
    expect(first?.eventIds.toSorted()).toEqual(
      told
        .slice(0, 3)
        .map((e) => e.event_id)
        .toSorted(),
    );
    expect([second?.fromMs, second?.events]).toEqual([at + 2_000, 3]);
    expect((await ask(at + 101, at + 1_000))[0]?.events).toBe(3);
    expect(await ask(at + 401, at + 2_500)).toEqual([]);
    const [few] = await events.received({
      ...{ ...scope, idsMax: 1, receivedFromMs: at, receivedToMs: at + 1_000 },
    });
    expect([few?.events, few?.eventIds.length]).toEqual([3, 1]);
  });

  it('should name values that several sensors have in common', async () => {
    const { sink, events } = stores();
    const domain = `${randomUUID()}.example`;
    const network = { protocol: 'tcp', direction: 'outbound', domain } as const;
    const sensorIds = [randomUUID(), randomUUID(), randomUUID()].sort();
    for (const sensorId of sensorIds) {
      const told = [event({ network, severity: 'low' }), event({ network, severity: 'high' })];
      const one = batch({ sensorId, events: [...told, event()] });
      await sink.append(one);
      await sink.append({ ...one, channel: 'heartbeat' });
    }
    const read = parseCondition(`domain:${domain}`);
    if (!read.ok) throw new Error(read.detail);
    const asked = { condition: read.condition, field: 'network.domain', limit: 5 } as const;
    const named = { ...asked, sensorsNamedMax: 2 };
    const [shared, ...rest] = await events.shared({ ...named, sensorsMin: 3 });
    expect(shared).toMatchObject({ value: domain, sensors: 3, events: 6, severity: 'high' });
    expect(shared?.sensorIds).toEqual(sensorIds.slice(0, 2));
    expect(rest).toEqual([]);
    expect(await events.shared({ ...named, sensorsMin: 4 })).toEqual([]);
    const since = { ...named, sensorsMin: 3, firstFromMs: shared?.firstAtMs ?? 0 };
    expect(await events.shared(since)).toEqual([shared]);
    expect(await events.shared({ ...since, firstFromMs: since.firstFromMs + 1 })).toEqual([]);
  });
}
