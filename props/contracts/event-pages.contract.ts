// Pages of events, in either order, and pages of arrivals: put together they are what anybody would have who had all events,
// whatever the size of a page, however far apart the events lie, and however often they were stored. decision: D131, D167
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FIELD_NAMES, type FieldName, fieldOf } from '../../machines/detection/fields.ts';
import type { RuntimeEvent, StoredEvent } from '../../machines/wire/event.ts';
import type {
  ArrivalPage,
  EventQuery,
  EventSink,
  EventStore,
} from '../../storage/ports/telemetry/event-store.ts';
import type { Harness } from './away.ts';
import { conditionEvents } from './conditions.ts';
import { batch, event, NOW_MS } from './samples.ts';

const DAY_MS = 86_400_000;
const LONG_MS = 180_000;
const RUNS = 6;
const WANTED_EVENTS = 40;

type Stores = { readonly sink: EventSink; readonly events: EventStore };
/** How long ago each event of a sensor was, and on how many channels it came. */
const drawn = fc.array(
  fc.record({
    agoMs: fc.oneof(
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 0, max: 2 * 3_600_000 }),
      fc.integer({ min: 0, max: 40 * DAY_MS }),
    ),
    isTwice: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40, size: 'max' },
);

export function eventPagesContract(harness: Harness<Stores>): void {
  it(
    'should give every event once, page by page, in either order',
    async () => {
      const sizes = fc.integer({ min: 1, max: 15 });
      await fc.assert(
        fc.asyncProperty(drawn, sizes, fc.boolean(), async (ago, limit, isBounded) => {
          const stores = harness.port();
          const { sensorId, inOrder: wanted } = await storeAll(stores, ago);
          const whole: Omit<EventQuery, 'limit'> = {
            sensorId,
            ...(isBounded ? { fromMs: NOW_MS - 50 * DAY_MS, toMs: NOW_MS + 1 } : {}),
          };
          for (const order of ['descending', 'ascending'] as const) {
            const inOrder = order === 'ascending' ? wanted : wanted.toReversed();
            expect(await pagesOf(stores.events, { ...whole, order, limit })).toEqual(inOrder);
          }
        }),
        { numRuns: RUNS },
      );
    },
    LONG_MS,
  );

  it(
    'should give every arrival once, page by page, a batch that came twice when it came last',
    async () => {
      const sizes = fc.integer({ min: 1, max: 7 });
      const batches = fc.array(
        fc.record({ events: fc.integer({ min: 1, max: 4 }), againMs: fc.option(fc.nat(50_000)) }),
        { minLength: 1, maxLength: 8, size: 'max' },
      );
      await fc.assert(
        fc.asyncProperty(batches, sizes, async (told, limit) => {
          const { sink, events } = harness.port();
          const sensorId = randomUUID();
          const wanted: { readonly id: string; readonly atMs: number }[] = [];
          for (const [at, { events: count, againMs }] of told.entries()) {
            const receivedAtMs = NOW_MS + 1_000 * at;
            const one = batch({
              ...{ sensorId, sequence: at + 1, receivedAtMs },
              events: Array.from({ length: count }, () => event()),
            });
            await sink.append(one);
            // A millisecond of its own, so that the order is known.
            const againAtMs = receivedAtMs + (againMs ?? 0) * 1_000 + 1 + at;
            if (againMs !== null) await sink.append({ ...one, receivedAtMs: againAtMs });
            const atMs = againMs === null ? receivedAtMs : againAtMs;
            wanted.push(...one.events.map(({ event_id }) => ({ id: event_id, atMs })));
          }
          const found = await arrivalsOf(events, sensorId, limit);
          const times = new Map(wanted.map(({ id, atMs }) => [id, atMs]));
          expect(found.toSorted()).toEqual(wanted.map(({ id }) => id).toSorted());
          const inOrder = found.map((id) => times.get(id) ?? 0);
          expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
        }),
        { numRuns: RUNS },
      );
    },
    LONG_MS,
  );

  it('should give the arrivals of two nodes that took one number', async () => {
    const { sink, events } = harness.port();
    const one = batch({ receivedAtMs: NOW_MS, events: [event()] });
    const other = { ...one, digest: 'another', receivedAtMs: NOW_MS + 1, events: [event()] };
    for (const each of [one, other]) await sink.append(each);
    const ids = [one, other].flatMap((each) => each.events.map(({ event_id }) => event_id));
    expect(await arrivalsOf(events, one.sensorId, 10)).toEqual(ids);
  });

  it(
    'should read of an event what is wanted, as it is, and no more',
    async () => {
      const { sink, events } = harness.port();
      const one = batch({ events: fc.sample(conditionEvents, WANTED_EVENTS) });
      await sink.append(one);
      const { sensorId, receivedAtMs } = one;
      const range = { receivedFromMs: receivedAtMs, receivedToMs: receivedAtMs + 1 };
      const page = { ...range, sensorId, limit: WANTED_EVENTS + 1 };
      const whole = new Map(
        (await events.arrivals(page)).events.map((each) => [each.event_id, each]),
      );
      expect(whole.size).toBe(WANTED_EVENTS);
      const fieldSets = fc.subarray([...FIELD_NAMES]);
      await fc.assert(
        fc.asyncProperty(fieldSets, fc.boolean(), async (fields, isOfTree) => {
          const { events: found } = await events.arrivals({ ...page, wants: { fields, isOfTree } });
          expect(found).toHaveLength(WANTED_EVENTS);
          for (const each of found) {
            const all = whole.get(each.event_id);
            if (all === undefined) throw new Error(`no event ${each.event_id} was stored`);
            expect(valuesOf(each)).toEqual(wantedOf(all, fields, isOfTree));
            if (!isOfTree) continue;
            const { process, parent, ancestors } = all;
            expect(each).toMatchObject(JSON.parse(JSON.stringify({ process, parent, ancestors })));
          }
        }),
        { numRuns: 4 * RUNS },
      );
    },
    LONG_MS,
  );
}

type Values = Readonly<Record<string, unknown>>;

/** What is told for each field; a member that one ancestor lacks is null. */
function valuesOf(event: StoredEvent): Values {
  const values = FIELD_NAMES.flatMap((name) => {
    const { read, readAll } = fieldOf(name);
    const value = read === undefined ? readAll(event).map((one) => one ?? null) : read(event);
    const isAbsent = Array.isArray(value) ? value.every((one) => one === null) : value == null;
    return isAbsent ? [] : [[name, value] as const];
  });
  return Object.fromEntries(values);
}

function wantedOf(event: StoredEvent, fields: readonly FieldName[], isOfTree: boolean): Values {
  const always = ['event_id', 'event_kind', 'severity', 'sensor_id', 'node_name'];
  const isWanted = (name: string) =>
    [...always, ...fields].includes(name) ||
    (isOfTree && ['process', 'parent', 'ancestors'].includes(name.split('.')[0] ?? ''));
  return Object.fromEntries(Object.entries(valuesOf(event)).filter(([name]) => isWanted(name)));
}

/** Stores them under a sensor of their own; answers its id, and each event once by time and id. */
async function storeAll(
  { sink }: Stores,
  drawnEvents: readonly { readonly agoMs: number; readonly isTwice: boolean }[],
): Promise<{ readonly sensorId: string; readonly inOrder: readonly string[] }> {
  const told = drawnEvents.map(({ agoMs, isTwice }) => ({
    ...{ isTwice, event: event({ observed_at: new Date(NOW_MS - agoMs).toISOString() }) },
  }));
  const one = batch({ events: told.map((each) => each.event) });
  const twice = told.filter((each) => each.isTwice).map((each) => each.event);
  for (const each of [one, { ...one, channel: 'heartbeat' as const, events: twice }]) {
    await sink.append(each);
  }
  // Instants of one length, so that their text is in their order.
  const place = ({ observed_at, event_id }: RuntimeEvent) => `${observed_at} ${event_id}`;
  const sorted = one.events.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
  return { sensorId: one.sensorId, inOrder: sorted.map(({ event_id }) => event_id) };
}

async function pagesOf(events: EventStore, query: EventQuery): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after: EventQuery['after'] = null; ; ) {
    const page = await events.search({ ...query, after });
    found.push(...page.map(({ event_id }) => event_id));
    const last = page.at(-1);
    if (last === undefined || page.length < query.limit) return found;
    after = { observedAt: last.observed_at, eventId: last.event_id };
  }
}

async function arrivalsOf(events: EventStore, sensorId: string, limit: number) {
  const range = { sensorId, receivedToMs: NOW_MS + DAY_MS, limit };
  const found: string[] = [];
  for (let fromMs: number | null = NOW_MS - 1_000; fromMs !== null; ) {
    const page: ArrivalPage = await events.arrivals({ ...range, receivedFromMs: fromMs });
    found.push(...page.events.map(({ event_id }) => event_id));
    fromMs = page.toMs;
  }
  return found;
}
