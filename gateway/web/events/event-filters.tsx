// What is asked of the events: a condition with its parts as chips, the range, and the lists that people choose from most.
import { MultiSelect } from '@mantine/core';
import { EVENT_KINDS, SEVERITIES } from '../../../machines/wire/words.ts';
import { Chip } from '../design/chips.tsx';
import { QueryBar } from '../design/query-bar.tsx';
import { TimeRange } from '../design/time-range.tsx';
import {
  asking,
  CONDITION_MAX_CHARS,
  type EventQuestion,
  type EventSearch,
  filtersOf,
} from './event-search.ts';
import { RANGE_DEFAULT, EVENT_TEXTS as TEXTS } from './texts.ts';

type Props = {
  readonly search: EventSearch;
  readonly onChange: (search: EventSearch) => void;
};

export function EventFilters({ search, onChange }: Props) {
  const ask = (question: Partial<EventQuestion>) => onChange(asking(search, question));
  return (
    <QueryBar
      value={search.q}
      onChange={(q) => ask({ q } as Partial<EventQuestion>)}
      label={TEXTS.condition}
      placeholder={TEXTS.conditionHint}
      maxChars={CONDITION_MAX_CHARS}
      chips={<ListChips search={search} onChange={onChange} />}
    >
      <MultiSelect
        size="sm"
        w={140}
        placeholder={TEXTS.severity}
        aria-label={TEXTS.severity}
        data={[...SEVERITIES]}
        value={[]}
        onChange={(more) => ask({ severity: [...(search.severity ?? []), ...more] as never })}
      />
      <MultiSelect
        size="sm"
        w={150}
        searchable
        placeholder={TEXTS.kind}
        aria-label={TEXTS.kind}
        data={[...EVENT_KINDS]}
        value={[]}
        onChange={(more) => ask({ event_kind: [...(search.event_kind ?? []), ...more] as never })}
      />
      <TimeRange
        value={{ from: search.from, to: search.to }}
        fallback={RANGE_DEFAULT}
        onChange={({ from, to }) => ask({ from, to } as Partial<EventQuestion>)}
      />
    </QueryBar>
  );
}

/** Everything but the condition, which has its own. */
function ListChips({ search, onChange }: Props) {
  const { q: _condition, ...others } = filtersOf(search);
  return Object.entries(others).map(([name, value]) => (
    <Chip
      key={name}
      text={`${name}: ${[value].flat().join(', ')}`}
      onRemove={() => onChange(asking(search, { [name]: undefined }))}
    />
  ));
}
