// How many of the events there were over time; marking a stretch looks closer.
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Severity } from '../../../machines/wire/event.ts';
import { useApi } from '../api/client.ts';
import type { AnswerOf } from '../api/contract.ts';
import { barsIn } from '../design/bars.ts';
import { Histogram } from '../design/histogram.tsx';
import { type Range, rangeOf } from '../design/range.ts';
import { Answered } from '../design/states.tsx';
import type { EventQuestion } from './event-search.ts';
import { EVENT_TEXTS as TEXTS } from './texts.ts';

const BARS = 80;

export function EventHistogram({
  question,
  onRange,
}: {
  readonly question: EventQuestion;
  readonly onRange: (range: Range) => void;
}) {
  const counts = useApi(
    'GET /events/histogram',
    { query: { ...question, bars: BARS } },
    { placeholderData: keepPreviousData },
  );
  return (
    <div className="fs-event-histogram">
      <Answered of={counts} rows={3}>
        {(answer) => <Drawn answer={answer} onRange={onRange} />}
      </Answered>
    </div>
  );
}

function Drawn({
  answer,
  onRange,
}: {
  readonly answer: AnswerOf<'GET /events/histogram'>;
  readonly onRange: (range: Range) => void;
}) {
  const { bucket_ms: stepMs } = answer;
  const bars = useMemo(() => barsOf(answer), [answer]);
  return (
    <Histogram
      title={TEXTS.histogram}
      bars={bars}
      stepMs={stepMs}
      onZoom={(span) => onRange(rangeOf(span))}
    />
  );
}

function barsOf({ from, to, bucket_ms: stepMs, items }: AnswerOf<'GET /events/histogram'>) {
  const counted = items.flatMap(({ at, by_severity }) =>
    Object.entries(by_severity).map(([severity, events]) => ({
      ...{ at, severity: severity as Severity, events },
    })),
  );
  return barsIn({ fromMs: Date.parse(from), toMs: Date.parse(to), stepMs }, counted);
}
