// The rows of the reference event store: every inserted batch stays, one that was stored twice too, and questions are
// answered from the rows as the real store answers them. Ranges and digests are kept as the batches come.
import type { PolicyMatch } from '../../../machines/console/policy/rehearsal.rules.ts';
import type { EventWants } from '../../../machines/detection/event-wants.ts';
import { type FieldName, fieldOf } from '../../../machines/detection/fields.ts';
import { type Predicate, predicateOf } from '../../../machines/detection/predicate.ts';
import { SEVERITIES, type Severity, type StoredEvent } from '../../../machines/wire/event.ts';
import type {
  ArrivalPage,
  ArrivalQuery,
  EventBatch,
  EventQuery,
  EventStore,
  HistogramBar,
  HistogramQuery,
  PolicyMatchQuery,
  ReceiptQuery,
  ReceivedBucket,
  ReceivedQuery,
  SharedQuery,
  SharedValue,
  StoredRange,
  TopQuery,
  TopValues,
  TransitionRow,
} from '../../ports/telemetry/event-store.ts';
import { type FieldValue, partialEvents } from '../../ports/telemetry/partial-event.ts';
import { conditionOfQuery } from '../../ports/telemetry/query-condition.ts';
import { nanosTextOf, storedEventOf } from '../../ports/telemetry/stored-event.ts';
import type { Calls } from '../plumbing/unsafe-port-of.ts';

type BatchName = Pick<EventBatch, 'sensorId' | 'streamId' | 'channel' | 'sequence'>;
type Stored = { readonly batch: EventBatch; events: readonly StoredEvent[] | null };
type Channel = { readonly ranges: StoredRange[]; readonly digests: Map<number, string> };

export type EventRows = {
  /** Stores a batch whole, whatever is stored already. */
  add(batch: EventBatch): void;
  /** Takes the last batches back, as a store that fails over to an older copy; answers which. */
  forgetLast(batches: number): readonly EventBatch[];
  /** Every batch in the order of its insert, as often as it was stored. */
  batches(): readonly EventBatch[];
  readonly calls: Calls<Omit<EventStore, 'ping'>>;
};

/** Makes rows, none. */
export function createEventRows(): EventRows {
  const rows: Stored[] = [];
  const byReceipt: Stored[] = [];
  const batches: EventBatch[] = [];
  const channels = new Map<string, Channel>();
  const transitions = new Map<string, TransitionRow[]>();

  function add(batch: EventBatch): void {
    const stored: Stored = { batch, events: null };
    rows.push(stored);
    insertByReceipt(byReceipt, stored);
    batches.push(batch);
    note(channels, batch);
  }

  function forgetLast(count: number): readonly EventBatch[] {
    const from = Math.max(0, batches.length - count);
    const forgotten = new Set(rows.splice(from));
    const kept = byReceipt.filter((one) => !forgotten.has(one));
    byReceipt.length = 0;
    for (const one of kept) byReceipt.push(one);
    const gone = batches.splice(from);
    channels.clear();
    for (const batch of batches) note(channels, batch);
    return gone;
  }

  function transitionsOf(query: Parameters<EventStore['transitionsOf']>[0]) {
    const { sensorId, limit, beforeMs = Infinity, fromMs = -Infinity, actorKind } = query;
    return (transitions.get(sensorId) ?? [])
      .map((row, at) => ({ row, at }))
      .filter(({ row }) => row.atMs < beforeMs && row.atMs >= fromMs)
      .filter(({ row }) => actorKind === undefined || row.actorKind === actorKind)
      .sort((a, b) => b.row.atMs - a.row.atMs || b.at - a.at)
      .slice(0, limit)
      .map(({ row }) => row);
  }

  return {
    add,
    forgetLast,
    batches: () => batches,
    calls: {
      search: (query) => pageOf(distinct(rows, query), query),
      arrivals: (query) => arrivalsOf(rows, query),
      receivedAfter: (query) => pageByReceipt(byReceipt, query),
      countDistinct: (query) => distinct(rows, query).length,
      histogram: (query) => barsOf(distinct(rows, query), query),
      topValues: (query) => topOf(distinct(rows, query), query),
      received: (query) => receivedOf(rows, query),
      shared: (query) => sharedOf(distinct(rows, query), query),
      statementOf: () => null,
      policyMatches: (query) => matchesOf(distinct(rows, query), query),
      storedRanges: () => [...channels.values()].flatMap((one) => one.ranges),
      batchDigest: (batch) => channels.get(channelOf(batch))?.digests.get(batch.sequence) ?? null,
      insertTransitions(added) {
        for (const row of added) {
          const own = transitions.get(row.sensorId);
          if (own === undefined) transitions.set(row.sensorId, [row]);
          else own.push(row);
        }
      },
      transitionsOf,
      setRetentionDays(days) {
        if (!Number.isSafeInteger(days) || days < 1) throw new Error('retention is whole days');
      },
    },
  };
}

/** Notes number and digest of a batch in its channel. */
function note(channels: Map<string, Channel>, batch: EventBatch): void {
  const key = channelOf(batch);
  let own = channels.get(key);
  if (own === undefined) {
    own = { ranges: [], digests: new Map() };
    channels.set(key, own);
  }
  if (own.digests.has(batch.sequence)) return;
  own.digests.set(batch.sequence, batch.digest);
  addToRanges(own.ranges, batch);
}

function channelOf(batch: Omit<BatchName, 'sequence'>): string {
  return `${batch.sensorId} ${batch.streamId} ${batch.channel}`;
}

/** Adds a number that is in none of the ranges, which are in order; most often it follows the last one. */
function addToRanges(ranges: StoredRange[], batch: BatchName): void {
  const { sensorId, streamId, channel, sequence } = batch;
  let at = ranges.length;
  while (at > 0 && (ranges[at - 1]?.first ?? 0) > sequence) at -= 1;
  const [before, behind] = [ranges[at - 1], ranges[at]];
  const joinsBefore = before !== undefined && before.last + 1 === sequence;
  const joinsBehind = behind !== undefined && behind.first === sequence + 1;
  const first = joinsBefore ? before.first : sequence;
  const last = joinsBehind ? behind.last : sequence;
  const replaced = Number(joinsBefore) + Number(joinsBehind);
  ranges.splice(joinsBefore ? at - 1 : at, replaced, { sensorId, streamId, channel, first, last });
}

/** The form a search shows is made once, and only when somebody searches. */
function eventsOf(stored: Stored): readonly StoredEvent[] {
  stored.events ??= stored.batch.events.map((event) => storedEventOf(stored.batch, event));
  return stored.events;
}

function distinct(rows: readonly Stored[], query: Partial<EventQuery>): readonly StoredEvent[] {
  const found = new Map<string, StoredEvent>();
  const condition = conditionOfQuery(query);
  const isMeant = condition === null ? null : predicateOf(condition);
  for (const stored of rows) {
    if (query.sensorId !== undefined && stored.batch.sensorId !== query.sensorId) continue;
    if (!isReceivedIn(stored.batch.receivedAtMs, query)) continue;
    for (const event of eventsOf(stored)) {
      if (matches(event, query, isMeant)) found.set(event.event_id, event);
    }
  }
  const sign = query.order === 'ascending' ? 1 : -1;
  return [...found.values()].sort((a, b) => sign * compare(a, b));
}

function sharedOf(events: readonly StoredEvent[], query: SharedQuery): readonly SharedValue[] {
  const { read } = fieldOf(query.field);
  const groups = new Map<string, StoredEvent[]>();
  for (const event of events) {
    const value = read?.(event);
    if (value === undefined) continue;
    groups.set(String(value), [...(groups.get(String(value)) ?? []), event]);
  }
  return [...groups]
    .map(([value, all]): SharedValue => {
      const sensorIds = [...new Set(all.map((event) => event.sensor_id))].sort();
      const times = all.map(({ observed_at }) => Number(nanosOf(observed_at) / 1_000_000n));
      const ranks = all.map(({ severity }) => SEVERITIES.indexOf(severity));
      return {
        ...{ value, sensors: sensorIds.length, events: all.length },
        sensorIds: sensorIds.slice(0, query.sensorsNamedMax),
        ...{ firstAtMs: Math.min(...times), lastAtMs: Math.max(...times) },
        severity: SEVERITIES[Math.max(...ranks)] ?? 'info',
      };
    })
    .filter(({ sensors }) => sensors >= query.sensorsMin)
    .filter(({ firstAtMs }) => firstAtMs >= Math.floor(query.firstFromMs ?? -Infinity))
    .sort((a, b) => b.sensors - a.sensors || (a.value < b.value ? -1 : 1))
    .slice(0, query.limit);
}

function isReceivedIn(atMs: number, query: Partial<EventQuery>): boolean {
  const { receivedFromMs = -Infinity, receivedToMs = Infinity } = query;
  return atMs >= Math.floor(receivedFromMs) && atMs < Math.floor(receivedToMs);
}

function receivedOf(rows: readonly Stored[], query: ReceivedQuery): readonly ReceivedBucket[] {
  const buckets = new Map<number, Set<string>>();
  const condition = conditionOfQuery(query);
  const isMeant = condition === null ? null : predicateOf(condition);
  for (const stored of rows) {
    const { receivedAtMs } = stored.batch;
    if (!isReceivedIn(receivedAtMs, query)) continue;
    const fromMs = Math.floor(receivedAtMs / query.bucketMs) * query.bucketMs;
    const ids = buckets.get(fromMs) ?? new Set<string>();
    for (const event of eventsOf(stored)) {
      if (matches(event, query, isMeant)) ids.add(event.event_id);
    }
    if (ids.size > 0) buckets.set(fromMs, ids);
  }
  return [...buckets]
    .sort(([a], [b]) => a - b)
    .map(([fromMs, ids]) => ({
      ...{ fromMs, events: ids.size, eventIds: [...ids].slice(0, query.idsMax) },
    }));
}

function arrivalsOf(rows: readonly Stored[], query: ArrivalQuery): ArrivalPage {
  const { receivedFromMs, receivedToMs, sensorId, condition, wants, limit } = query;
  const isMeant = condition === undefined ? () => true : predicateOf(condition);
  const last = new Map<string, Stored>();
  for (const stored of rows) {
    const { batch } = stored;
    if (!isReceivedIn(batch.receivedAtMs, { receivedFromMs, receivedToMs })) continue;
    if (sensorId !== undefined && batch.sensorId !== sensorId) continue;
    // Two nodes under one identity may each have stored one number.
    const key = `${channelOf(batch)} ${batch.sequence} ${batch.digest}`;
    if (batch.receivedAtMs >= (last.get(key)?.batch.receivedAtMs ?? 0)) last.set(key, stored);
  }
  const found = [...last.values()].flatMap(eventsOf).filter(isMeant).sort(byArrival);
  const cut = found[limit - 1]?.received_at;
  const events = cut === undefined ? found : found.filter((one) => one.received_at <= cut);
  return {
    events: wants === undefined ? events : events.map(partsOf(wants)),
    toMs: cut === undefined ? null : Date.parse(cut) + 1,
  };
}

function partsOf(wants: EventWants): (event: StoredEvent) => StoredEvent {
  const { fields, eventOf } = partialEvents(wants);
  return ({ process, parent, ancestors, ...others }) => {
    const { sensor_id, node_name, received_at, observed_at } = others;
    const { event_id, schema_version, event_kind, severity } = others;
    const head = { sensor_id, node_name, received_at, observed_at, event_id, schema_version };
    const tree = {
      ...(process === undefined ? {} : { process }),
      ...(parent === undefined ? {} : { parent }),
      ...(ancestors === undefined ? {} : { ancestors }),
    };
    const values = fields.map((field) => fieldValue({ ...others, ...tree }, field));
    return eventOf({ ...head, event_kind, severity }, tree, values);
  };
}

function fieldValue(event: StoredEvent, field: FieldName): FieldValue {
  const { read, readAll } = fieldOf(field);
  return read === undefined ? readAll(event) : read(event);
}

function byArrival(a: StoredEvent, b: StoredEvent): number {
  const byReceipt = Date.parse(a.received_at) - Date.parse(b.received_at);
  if (byReceipt !== 0) return byReceipt;
  if (a.sensor_id !== b.sensor_id) return a.sensor_id < b.sensor_id ? -1 : 1;
  return compare(a, b);
}

function pageByReceipt(rows: readonly Stored[], query: ReceiptQuery): readonly StoredEvent[] {
  const { after, beforeMs, condition, limit } = query;
  const isMeant = condition === null ? null : predicateOf(condition);
  const found = new Map<string, { readonly atMs: number; readonly event: StoredEvent }>();
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const stored = rows[at];
    const atMs = Math.floor(stored?.batch.receivedAtMs ?? 0);
    // In the order of receipt: what is before this one is older.
    if (stored === undefined || atMs < after.receivedAtMs) break;
    if (atMs >= beforeMs) continue;
    for (const event of eventsOf(stored)) {
      if (atMs === after.receivedAtMs && event.event_id <= after.eventId) continue;
      if (isMeant?.(event) ?? true) found.set(`${atMs} ${event.event_id}`, { atMs, event });
    }
  }
  return [...found.values()]
    .sort((a, b) => a.atMs - b.atMs || (a.event.event_id < b.event.event_id ? -1 : 1))
    .slice(0, limit)
    .map(({ event }) => event);
}

/** Most often it was received last. */
function insertByReceipt(rows: Stored[], stored: Stored): void {
  let at = rows.length;
  while (at > 0 && (rows[at - 1]?.batch.receivedAtMs ?? 0) > stored.batch.receivedAtMs) at -= 1;
  rows.splice(at, 0, stored);
}

function pageOf(all: readonly StoredEvent[], query: EventQuery): readonly StoredEvent[] {
  const { after = null, limit } = query;
  if (after === null) return all.slice(0, limit);
  const sign = query.order === 'ascending' ? 1 : -1;
  const from = { observed_at: after.observedAt, event_id: after.eventId };
  return all.filter((one) => sign * compare(one, from) > 0).slice(0, limit);
}

function compare(
  a: Pick<StoredEvent, 'observed_at' | 'event_id'>,
  b: Pick<StoredEvent, 'observed_at' | 'event_id'>,
): number {
  const [left, right] = [nanosOf(a.observed_at), nanosOf(b.observed_at)];
  if (left !== right) return left < right ? -1 : 1;
  return a.event_id < b.event_id ? -1 : a.event_id > b.event_id ? 1 : 0;
}

function nanosOf(timestamp: string): bigint {
  return BigInt(nanosTextOf(timestamp) ?? '0');
}

function matches(
  event: StoredEvent,
  query: Partial<EventQuery>,
  isMeant: Predicate | null,
): boolean {
  const atNanos = nanosOf(event.observed_at);
  const { fromMs, toMs, sensorId, eventKinds, severities } = query;
  return (
    (fromMs === undefined || atNanos >= BigInt(Math.floor(fromMs)) * 1_000_000n) &&
    (toMs === undefined || atNanos < BigInt(Math.floor(toMs)) * 1_000_000n) &&
    (sensorId === undefined || event.sensor_id === sensorId) &&
    (eventKinds?.includes(event.event_kind) ?? true) &&
    (severities?.includes(event.severity) ?? true) &&
    (isMeant === null || isMeant(event))
  );
}

function barsOf(
  events: readonly StoredEvent[],
  { fromMs, bucketMs }: HistogramQuery,
): readonly HistogramBar[] {
  const bars = new Map<number, { events: number; bySeverity: Partial<Record<Severity, number>> }>();
  for (const event of events) {
    const atMs = Number(nanosOf(event.observed_at) / 1_000_000n);
    const start = fromMs + Math.floor((atMs - fromMs) / bucketMs) * bucketMs;
    const bar = bars.get(start) ?? { events: 0, bySeverity: {} };
    bars.set(start, bar);
    bar.events += 1;
    bar.bySeverity[event.severity] = (bar.bySeverity[event.severity] ?? 0) + 1;
  }
  return [...bars]
    .map(([start, bar]) => ({ fromMs: start, ...bar }))
    .sort((a, b) => a.fromMs - b.fromMs);
}

function matchesOf(
  events: readonly StoredEvent[],
  { sensorIds, policies }: PolicyMatchQuery,
): readonly PolicyMatch[] {
  const found = new Map<string, PolicyMatch>();
  for (const { sensor_id: sensorId, policy, observed_at } of events) {
    if (policy === undefined || !policies.includes(policy.name)) continue;
    if (!sensorIds.includes(sensorId)) continue;
    const key = `${sensorId} ${policy.name} ${policy.action}`;
    const before = found.get(key);
    const atMs = Number(nanosOf(observed_at) / 1_000_000n);
    found.set(key, {
      ...{ sensorId, policy: policy.name, action: policy.action },
      events: (before?.events ?? 0) + 1,
      lastAtMs: Math.max(before?.lastAtMs ?? 0, atMs),
    });
  }
  return [...found.values()];
}

function topOf(events: readonly StoredEvent[], { field, limit }: TopQuery): TopValues {
  const { read, readAll } = fieldOf(field);
  const counts = new Map<string, number>();
  let having = 0;
  for (const event of events) {
    const held = readAll === undefined ? [read(event)] : readAll(event);
    const values = new Set(held.flatMap((one) => (one === undefined ? [] : [String(one)])));
    if (values.size > 0) having += 1;
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const values = [...counts]
    .map(([value, count]) => ({ value, events: count }))
    .sort(
      (a, b) => b.events - a.events || Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)),
    )
    .slice(0, limit);
  return { values, events: having, distinct: counts.size };
}
