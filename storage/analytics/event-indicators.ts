// Values that several sensors have in common. decision: D145
import { SEVERITIES, type Severity } from '../../machines/wire/event.ts';
import type { SharedQuery, SharedValue } from '../ports/telemetry/event-store.ts';
import type { AskEvents } from './ask.ts';
import { filterOf } from './event-filter.ts';
import { FIELD_COLUMNS } from './field-columns.ts';

type SharedRow = {
  readonly value: string;
  readonly sensors: string;
  readonly sensor_ids: readonly string[];
  readonly events: string;
  readonly first_ms: string;
  readonly last_ms: string;
  readonly worst: Severity;
};

/** Those on most sensors first, then in the order of their text. */
export async function shared(ask: AskEvents, query: SharedQuery): Promise<readonly SharedValue[]> {
  const { where, params } = filterOf(query);
  const { present, value, each } = FIELD_COLUMNS[query.field];
  if (each !== undefined) throw new Error('a field of several values is no indicator');
  const namedMax = Math.max(1, Math.floor(query.sensorsNamedMax));
  const rank = `indexOf({ranks: Array(String)}, severity)`;
  const rows = await ask<SharedRow>(
    query,
    `SELECT toString(${value}) AS value, uniqExact(sensor_id) AS sensors,
       arraySlice(arraySort(groupUniqArray(sensor_id)), 1, ${namedMax}) AS sensor_ids,
       uniqExact(event_id) AS events, min(toUnixTimestamp64Milli(observed_at)) AS first_ms,
       max(toUnixTimestamp64Milli(observed_at)) AS last_ms, argMax(severity, ${rank}) AS worst
     FROM runtime_events WHERE ${where} AND ${present ?? '1'}
     GROUP BY value HAVING sensors >= {sensors_min: UInt32} AND first_ms >= {first_from_ms: Int64}
     ORDER BY sensors DESC, value LIMIT {row_limit: UInt32}`,
    {
      ...{ ...params, ranks: [...SEVERITIES], row_limit: query.limit },
      ...{
        sensors_min: query.sensorsMin,
        first_from_ms: Math.floor(query.firstFromMs ?? Number.MIN_SAFE_INTEGER),
      },
    },
  );
  return rows.map((row) => ({
    ...{ value: row.value, sensors: Number(row.sensors), sensorIds: row.sensor_ids },
    ...{ events: Number(row.events), severity: row.worst },
    ...{ firstAtMs: Number(row.first_ms), lastAtMs: Number(row.last_ms) },
  }));
}
