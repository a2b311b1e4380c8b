// Events newest first: the filter in the address, older ones page by page, new ones by the live tail, which collects what
// came ("12 new") until somebody wants to see it, so that nothing moves under the eye.
import { Button, Switch } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { addressOf, call } from '../api/client.ts';
import type { AnswerOf, EventItem } from '../api/contract.ts';
import { Download } from '../design/download.tsx';
import { Icon } from '../design/icons.tsx';
import { exact } from '../design/numbers.ts';
import { SeverityMark } from '../design/severity.tsx';
import { Failed, NoMatch, Nothing, RowsSkeleton } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { At } from '../design/time.tsx';
import { EventDrawer } from './event-drawer.tsx';
import { EventFilters } from './event-filters.tsx';
import { type EventSearch, filtersOf } from './event-search.ts';
import { useTail } from './tail.ts';
import { RANGE_DEFAULT, EVENT_TEXTS as TEXTS } from './texts.ts';

const PAGE = 200;
type Page = AnswerOf<'GET /events'>;

export function EventList({
  search,
  sensorId,
  onChange,
}: {
  readonly search: EventSearch;
  readonly sensorId?: string;
  readonly onChange: (search: EventSearch) => void;
}) {
  const [open, setOpen] = useState<EventItem | null>(null);
  const [isRoomy, setRoomy] = useState(false);
  const asked: EventSearch = {
    from: RANGE_DEFAULT,
    ...search,
    ...(sensorId === undefined ? {} : { sensor_id: sensorId }),
  };
  const found = useEvents(asked);
  const tail = useTail(filtersOf(asked));
  const older = found.data?.pages.flatMap(({ items }) => items) ?? [];
  const shownIds = new Set(tail.shown.map((event) => event.event_id));
  const rows = [...tail.shown, ...older.filter((event) => !shownIds.has(event.event_id))];
  const isFiltered = Object.keys(filtersOf(search)).length > 0;
  return (
    <>
      <EventFilters search={search} onChange={onChange} />
      <div className="fs-toolbar">
        <Button
          variant={tail.isOn ? 'filled' : 'default'}
          leftSection={<Icon name={tail.isOn ? 'pause' : 'play'} size={14} />}
          aria-pressed={tail.isOn}
          onClick={tail.toggle}
        >
          {tail.isOn ? TEXTS.stop : TEXTS.tail}
        </Button>
        {tail.waiting > 0 && (
          <Button variant="light" onClick={tail.show}>
            {TEXTS.fresh(exact(tail.waiting))}
          </Button>
        )}
        {tail.dropped > 0 && <span className="fs-meta">{TEXTS.dropped(exact(tail.dropped))}</span>}
        <Switch
          size="xs"
          label={TEXTS.density}
          checked={isRoomy}
          onChange={({ currentTarget }) => setRoomy(currentTarget.checked)}
        />
        <Download
          address={addressOf('GET /events', { query: asked })}
          format="csv"
          label={TEXTS.csv}
          name="events"
        />
        <Download
          address={addressOf('GET /events', { query: asked })}
          format="ndjson"
          label={TEXTS.ndjson}
          name="events"
        />
      </div>
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
          columns={columnsOf(setOpen, sensorId === undefined)}
          rows={rows}
          rowKey={(event) => `${event.sensor_id}/${event.event_id}`}
          isRoomy={isRoomy}
          isSelected={(event) => event === open}
          hasMore={found.hasNextPage}
          isLoadingMore={found.isFetchingNextPage}
          onMore={() => {
            if (!found.isFetching) void found.fetchNextPage();
          }}
        />
      )}
      <EventDrawer
        event={open}
        onClose={() => setOpen(null)}
        onFilter={(more) => onChange({ ...search, ...more })}
      />
    </>
  );
}

function useEvents(asked: EventSearch) {
  return useInfiniteQuery({
    queryKey: ['GET /events', asked],
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === '' ? {} : { cursor: pageParam };
      return call('GET /events', { query: { ...asked, limit: PAGE, ...cursor } }, signal);
    },
    initialPageParam: '',
    getNextPageParam: (last: Page) => last.next_cursor,
  });
}

function columnsOf(
  onOpen: (event: EventItem) => void,
  isFleet: boolean,
): readonly Column<EventItem>[] {
  const node: Column<EventItem> = {
    ...{ id: 'node', title: TEXTS.node, width: 140 },
    cell: (event) => (
      <Link to="/sensors/$id/overview" params={{ id: event.sensor_id }}>
        <bdi>{event.node_name}</bdi>
      </Link>
    ),
  };
  return [
    { id: 'time', title: TEXTS.time, width: 160, cell: (event) => <At at={event.observed_at} /> },
    {
      ...{ id: 'severity', title: TEXTS.severity, width: 90 },
      cell: (event) => <SeverityMark severity={event.severity} />,
    },
    { id: 'kind', title: TEXTS.kind, width: 140, cell: (event) => event.event_kind },
    ...(isFleet ? [node] : []),
    {
      ...{ id: 'message', title: TEXTS.message, width: 300, grows: true },
      cell: (event) => (
        <button
          type="button"
          className="fs-row-button"
          onClick={() => onOpen(event)}
          title={event.message}
        >
          <bdi>{event.message}</bdi>
        </button>
      ),
    },
  ];
}
