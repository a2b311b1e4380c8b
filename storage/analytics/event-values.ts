// The most frequent values of a field. Two questions of bounded memory, however many values there are: which values are
// candidates, and how often each of them was. Few values are all candidates, so that small answers are exact. decision: D167
import type { EventScope, TopQuery, TopValues } from '../ports/telemetry/event-store.ts';
import { filterOf } from './event-filter.ts';
import { FIELD_COLUMNS } from './field-columns.ts';

type Ask = <Row>(
  query: Pick<EventScope, 'signal'>,
  sql: string,
  params: Readonly<Record<string, unknown>>,
) => Promise<readonly Row[]>;
type CandidateRow = {
  readonly candidates: readonly string[];
  readonly events: string;
  readonly distinct: string;
};
type ValueRow = { readonly value: string; readonly events: string };

/** The store follows three times as many while it reads. */
const CANDIDATES = 1_000;

/** The most frequent first, equal ones in the order of their text. */
export async function topValues(ask: Ask, query: TopQuery): Promise<TopValues> {
  const { where, params } = filterOf(query);
  const { present, value, each } = FIELD_COLUMNS[query.field];
  // Each value of an event once; an event that was stored twice is told apart by its id.
  const held =
    each === undefined
      ? `SELECT event_id, assumeNotNull(toString(${value})) AS held
         FROM runtime_events WHERE ${where} AND ${present ?? '1'}`
      : `SELECT event_id, assumeNotNull(arrayJoin(arrayDistinct(
           arrayFilter(x -> isNotNull(x), ${each})))) AS held FROM runtime_events WHERE ${where}`;
  const [row] = await ask<CandidateRow>(
    query,
    `SELECT topK(${CANDIDATES})(held) AS candidates, uniqCombined64(event_id) AS events,
       uniqCombined64(held) AS distinct FROM (${held})`,
    params,
  );
  if (row === undefined || row.candidates.length === 0) {
    return { values: [], events: 0, distinct: 0 };
  }
  const rows = await ask<ValueRow>(
    query,
    `SELECT held AS value, uniqCombined64(event_id) AS events FROM (${held})
     WHERE held IN {candidates: Array(String)}
     GROUP BY value ORDER BY events DESC, value LIMIT {row_limit: UInt32}`,
    { ...params, candidates: [...row.candidates], row_limit: query.limit },
  );
  return {
    values: rows.map((one) => ({ value: one.value, events: Number(one.events) })),
    ...{ events: Number(row.events), distinct: Number(row.distinct) },
  };
}
