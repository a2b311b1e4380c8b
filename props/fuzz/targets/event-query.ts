// A question for events, from the query string to the store's query: the same range on every page, instants that the
// store can hold, and nothing outside the filter's schema.
import { Compile } from 'typebox/compile';
import { createCursorSigner } from '../../../gateway/operator-plane/plumbing/cursor.ts';
import { parseQuery } from '../../../gateway/operator-plane/plumbing/query-string.ts';
import { timeText } from '../../../gateway/operator-plane/plumbing/time-range.ts';
import {
  cursorAfter,
  EventFilter,
  type EventQuestion,
  questionOf,
} from '../../../gateway/operator-plane/telemetry/event-query.ts';
import { plainEvent, texts } from '../samples.ts';
import { demand, demandSame, type FuzzTarget } from '../target.ts';
import { checkRefusal } from '../wire-oracle.ts';

const NOW_MS = Date.UTC(2026, 2, 4);
const cursors = createCursorSigner(Buffer.alloc(32, 9));
const isFilter = Compile(EventFilter);
const LAST = {
  ...plainEvent,
  event_kind: 'process_exec' as const,
  severity: 'info' as const,
  sensor_id: '01234567-89ab-4cde-8f01-23456789abcd',
  node_name: 'node-1',
  received_at: '2026-03-04T05:06:08.000Z',
};

const target: FuzzTarget = {
  name: 'event-query',
  modules: [
    'gateway/operator-plane/telemetry/event-query.ts',
    'gateway/operator-plane/plumbing/time-range.ts',
  ],
  form: 'text',
  dictionary: [
    'from=',
    'to=',
    'now-',
    'now+',
    '1h',
    '999999w',
    '&',
    'order=',
    '%2B',
    'sensor_id=',
    'Z',
  ],
  seeds: () =>
    texts(
      'from=now-1h&to=now&severity=high,low&order=ascending',
      'from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00.5%2B02:00&binary=curl',
      'from=2026-02-30T00:00:00Z',
      'from=now-999999w&to=now%2B999999w',
      'to=9999-12-31T23:59:60Z&from=0000-01-01T00:00:00-23:59',
      'from=now&to=now-1s',
      'event_kind=process_exec&event_kind=dns_query&text=a%00b',
      'sensor_id=01234567-89ab-4cde-8f01-23456789abcd&__proto__=1',
    ),
  run(bytes, note) {
    const filter = parseQuery(bytes.toString());
    if (!isFilter.Check(filter)) return note('refused by its schema');
    const asked = questionOf({ filter, cursor: undefined, cursors, nowMs: NOW_MS });
    if (!asked.ok) return checkRefusal(asked, note);
    const { question } = asked;
    checkRange(question);
    const cursor = cursorAfter(cursors, filter, question, LAST);
    const next = questionOf({ filter, cursor, cursors, nowMs: NOW_MS + 60_000 });
    demand(next.ok, 'the next page is refused');
    demandSame(
      { ...next.question, after: null },
      { ...question, after: null },
      'the next page asks for something else',
    );
    demandSame(next.question.after?.eventId, LAST.event_id, 'the next page begins elsewhere');
    note(Object.keys(question).sort().join());
  },
};
export default target;

function checkRange({ fromMs, toMs }: EventQuestion): void {
  for (const ms of [fromMs, toMs]) {
    if (ms === undefined) continue;
    demand(Number.isSafeInteger(ms), 'an instant is no whole number of milliseconds');
    demand(timeText(ms).length > 0, 'an instant has no text');
  }
  demand(fromMs === undefined || toMs === undefined || fromMs <= toMs, 'a range is turned round');
}
