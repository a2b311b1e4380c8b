// Events newest first: what is asked stands in the address, older ones come page by page, new ones by the live tail. Above
// them their number over time, beside them the most frequent values.
import { Button, Switch } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { call, useApi } from '../api/client.ts';
import type { AnswerOf, EventItem } from '../api/contract.ts';
import { fieldIs, withPart } from '../design/condition-parts.ts';
import { Failed, NoMatch, Nothing, RowsSkeleton } from '../design/states.tsx';
import { DataTable } from '../design/table.tsx';
import { columnsOf, EventColumnChooser } from './event-columns.tsx';
import { EventDrawer } from './event-drawer.tsx';
import { EventFields } from './event-fields.tsx';
import { EventFilters } from './event-filters.tsx';
import { EventHistogram } from './event-histogram.tsx';
import {
  asking,
  type EventQuestion,
  type EventSearch,
  filtersOf,
  questionOf,
} from './event-search.ts';
import { Downloads, TailButtons } from './event-tools.tsx';
import { useTail } from './tail.ts';
import { RANGE_DEFAULT, EVENT_TEXTS as TEXTS } from './texts.ts';
import './events.css';

const PAGE = 200;
const LOOK_AGAIN_MS = 3_000;
const OPEN_FROM = 'now-90d';
type Page = AnswerOf<'GET /events'>;
type Props = {
  readonly search: EventSearch;
  readonly sensorId?: string;
  readonly onChange: (search: EventSearch) => void;
};

export function EventList({ search, sensorId, onChange }: Props) {
  const [isRoomy, setRoomy] = useState(false);
  const [hasFields, setFields] = useState(false);
  const asked: EventQuestion = {
    from: RANGE_DEFAULT,
    ...questionOf(search),
    ...(sensorId === undefined ? {} : { sensor_id: sensorId }),
  };
  const isFiltered = Object.keys(filtersOf(search)).length > 0;
  const found = useEvents(asked, !isFiltered && asked.to === undefined);
  const { tail, move } = useTail(filtersOf(asked));
  const rows = useRows(found.data?.pages, tail.shown);
  const take = (part: string) => onChange(asking(search, { q: withPart(search.q, part) }));
  const open = (id: string | undefined) => {
    if (id !== undefined) move({ type: 'paused' });
    const { open: _open, ...rest } = search;
    onChange(id === undefined ? rest : { ...rest, open: id });
  };
  return (
    <>
      <EventFilters search={search} onChange={onChange} />
      <EventHistogram
        question={asked}
        onRange={(range) => onChange(asking(search, range as EventQuestion))}
      />
      <div className="fs-toolbar">
        <TailButtons tail={tail} onMove={move} isPast={search.to !== undefined} />
        <Switch
          size="xs"
          label={TEXTS.density}
          checked={isRoomy}
          onChange={({ currentTarget }) => setRoomy(currentTarget.checked)}
        />
        <EventColumnChooser
          named={search.columns}
          onChange={(named) => {
            const { columns: _columns, ...rest } = search;
            onChange(named === undefined ? rest : { ...rest, columns: named });
          }}
        />
        <Downloads question={asked} />
        <Button
          className="fs-fields-toggle"
          variant="default"
          aria-expanded={hasFields}
          onClick={() => setFields(!hasFields)}
        >
          {TEXTS.fields}
        </Button>
      </div>
      <div className="fs-events" data-fields={hasFields}>
        <EventFields question={asked} onPart={take} />
        <div className="fs-events-found">
          {found.isPending && <RowsSkeleton />}
          {found.isError && <Failed error={found.error} onRetry={() => void found.refetch()} />}
          {found.isSuccess &&
            rows.length === 0 &&
            (isFiltered ? (
              <NoMatch title={TEXTS.noMatch} onClear={() => onChange({})} />
            ) : (
              <Nothing title={TEXTS.none}>{TEXTS.noneHint}</Nothing>
            ))}
          {rows.length > 0 && (
            <DataTable
              label={TEXTS.title}
              columns={columnsOf(search.columns, sensorId === undefined, (event) =>
                open(event.event_id),
              )}
              rows={rows}
              rowKey={(event) => `${event.sensor_id}/${event.event_id}`}
              isRoomy={isRoomy}
              isSelected={(event) => event.event_id === search.open}
              hasMore={found.hasNextPage}
              isLoadingMore={found.isFetchingNextPage}
              onMore={() => {
                if (!found.isFetching) void found.fetchNextPage();
              }}
            />
          )}
        </div>
      </div>
      <OpenEvent rows={rows} id={search.open} onOpen={open} onPart={take} />
    </>
  );
}

/** `mayCome`: looks again while there is nothing at all, so that who waits for a first event sees it come. */
function useEvents(asked: EventQuestion, mayCome: boolean) {
  return useInfiniteQuery({
    queryKey: ['GET /events', asked],
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === '' ? {} : { cursor: pageParam };
      return call('GET /events', { query: { ...asked, limit: PAGE, ...cursor } }, signal);
    },
    initialPageParam: '',
    getNextPageParam: (last: Page) => last.next_cursor,
    refetchInterval: ({ state }) =>
      mayCome && state.data?.pages[0]?.items.length === 0 ? LOOK_AGAIN_MS : false,
  });
}

/** What the tail showed above what was found, each once. */
function useRows(pages: readonly Page[] | undefined, tailed: readonly EventItem[]) {
  return useMemo(() => {
    const known = new Set(tailed.map((event) => event.event_id));
    const older = pages?.flatMap(({ items }) => items) ?? [];
    return [...tailed, ...older.filter((event) => !known.has(event.event_id))];
  }, [pages, tailed]);
}

/** The event that the address names: among the rows, or asked for when somebody came by a link. */
function OpenEvent({
  rows,
  id,
  onOpen,
  onPart,
}: {
  readonly rows: readonly EventItem[];
  readonly id: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
  readonly onPart: (part: string) => void;
}) {
  const at = rows.findIndex((event) => event.event_id === id);
  const named = useApi(
    'GET /events',
    { query: { from: OPEN_FROM, limit: 1, q: fieldIs('event_id', id ?? '-') } },
    { enabled: id !== undefined && at < 0 },
  );
  const turnTo = (event: EventItem | undefined) =>
    event === undefined ? undefined : () => onOpen(event.event_id);
  const isKnown = at >= 0 || named.isSuccess || named.isError;
  return (
    <EventDrawer
      event={id === undefined || !isKnown ? null : (rows[at] ?? named.data?.items[0])}
      onClose={() => onOpen(undefined)}
      onPrevious={turnTo(at < 0 ? undefined : rows[at - 1])}
      onNext={turnTo(at < 0 ? undefined : rows[at + 1])}
      onPart={onPart}
    />
  );
}
