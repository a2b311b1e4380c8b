// A query's filters as conditions with parameters; no value of a caller is ever part of the statement's text.
import type { EventQuery } from '../ports/telemetry/event-store.ts';
import { conditionOfQuery } from '../ports/telemetry/query-condition.ts';
import { nanosTextOf } from '../ports/telemetry/stored-event.ts';
import { conditionSql } from './condition-sql.ts';

export type Filter = {
  readonly where: string;
  readonly params: Readonly<Record<string, unknown>>;
};

/** The filters of a query; without any it matches everything. */
export function filterOf(query: Partial<EventQuery>): Filter {
  const conditions: string[] = ['1'];
  const params: Record<string, unknown> = {};
  function add(condition: string, name: string, value: unknown): void {
    conditions.push(condition);
    params[name] = value;
  }
  const { fromMs, toMs, sensorId, eventKinds, severities, after } = query;
  if (fromMs !== undefined) {
    add('observed_at >= fromUnixTimestamp64Milli({from_ms: Int64})', 'from_ms', Math.floor(fromMs));
  }
  if (toMs !== undefined) {
    add('observed_at < fromUnixTimestamp64Milli({to_ms: Int64})', 'to_ms', Math.floor(toMs));
  }
  for (const [comparison, name, ms] of [
    ['>=', 'received_from_ms', query.receivedFromMs],
    ['<', 'received_to_ms', query.receivedToMs],
  ] as const) {
    if (ms === undefined) continue;
    const instant = `fromUnixTimestamp64Milli({${name}: Int64}, 'UTC')`;
    add(`received_at ${comparison} ${instant}`, name, Math.floor(ms));
  }
  if (sensorId !== undefined) add('sensor_id = {sensor_id: String}', 'sensor_id', sensorId);
  if (eventKinds !== undefined) {
    add('event_kind IN {event_kinds: Array(String)}', 'event_kinds', [...eventKinds]);
  }
  if (severities !== undefined) {
    add('severity IN {severities: Array(String)}', 'severities', [...severities]);
  }
  const condition = conditionOfQuery(query);
  if (condition !== null) {
    const compiled = conditionSql(condition);
    conditions.push(compiled.where);
    Object.assign(params, compiled.params);
  }
  if (after !== undefined && after !== null) {
    const comparison = query.order === 'ascending' ? '>' : '<';
    conditions.push(
      `(observed_at, event_id) ${comparison} (fromUnixTimestamp64Nano({after_ns: Int64}), {after_id: String})`,
    );
    params['after_ns'] = nanosTextOf(after.observedAt) ?? '0';
    params['after_id'] = after.eventId;
  }
  return { where: conditions.join(' AND '), params };
}
