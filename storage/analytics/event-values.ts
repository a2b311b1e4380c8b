// The most frequent values of a field. Two questions of bounded memory, however many values there are: how many there are,
// and how often each candidate was. Few values are all candidates, so that small answers are exact. decision: D167
import type { TopQuery, TopValues } from '../ports/telemetry/event-store.ts';
import type { AskEvents } from './ask.ts';
import { filterOf } from './event-filter.ts';
import { FIELD_COLUMNS } from './field-columns.ts';

type TotalsRow = { readonly events: string; readonly distinct: string };
type ValueRow = { readonly value: string; readonly events: string };

/** The store follows three times as many while it reads. */
const CANDIDATES = 1_000;

/** The most frequent first, equal ones in the order of their text. */
export async function topValues(ask: AskEvents, query: TopQuery): Promise<TopValues> {
  const { where, params } = filterOf(query);
  const { present, value, each } = FIELD_COLUMNS[query.field];
  // Each value of an event once; an event that was stored twice is told apart by its id.
  const held =
    each === undefined
      ? `SELECT event_id, assumeNotNull(toString(${value})) AS held
         FROM runtime_events WHERE ${where} AND ${present ?? '1'}`
      : `SELECT event_id, assumeNotNull(arrayJoin(arrayDistinct(
           arrayFilter(x -> isNotNull(x), ${each})))) AS held FROM runtime_events WHERE ${where}`;
  const [all] = await ask<TotalsRow>(
    query,
    `SELECT uniqCombined64(event_id) AS events, uniqCombined64(held) AS distinct FROM (${held})`,
    params,
  );
  if (all === undefined || Number(all.distinct) === 0)
    return { values: [], events: 0, distinct: 0 };
  // The candidates stay in the store: a thousand long values are too many for a question.
  const rows = await ask<ValueRow>(
    query,
    `SELECT held AS value, uniqCombined64(event_id) AS events FROM (${held})
     WHERE held IN (SELECT arrayJoin(topK(${CANDIDATES})(held)) FROM (${held}))
     GROUP BY value ORDER BY events DESC, value LIMIT {row_limit: UInt32}`,
    { ...params, row_limit: query.limit },
  );
  return {
    values: rows.map((one) => ({ value: one.value, events: Number(one.events) })),
    ...{ events: Number(all.events), distinct: Number(all.distinct) },
  };
}
