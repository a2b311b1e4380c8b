// The fleet as a list: filtered and ordered by the Console, patched in place by the live channel, however long it is.
import { Checkbox } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/client.ts';
import type { AnswerOf, SensorSummary } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { LinkButton } from '../design/link-button.tsx';
import { PageFrame } from '../design/page.tsx';
import { Failed, NoMatch, Nothing, RowsSkeleton } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { useMay } from '../session/session.ts';
import { BulkBar } from './bulk-bar.tsx';
import { columnsOf, SensorColumnChooser } from './sensor-columns.tsx';
import { SensorFilters } from './sensor-filters.tsx';
import { hasFilter, questionOf, type SensorSearch } from './sensor-search.ts';
import { SENSOR_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/sensors');
const PAGE = 200;
/** As many as one bulk act takes. */
const CHOSEN_MAX = 500;

export function SensorsPage() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const may = useMay();
  const sensors = useSensors(search);
  const rows = sensors.data?.pages.flatMap(({ items }) => items) ?? [];
  const change = (next: SensorSearch) => void navigate({ to: '/sensors', search: next });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) =>
    setChosen((now) =>
      now.has(id)
        ? new Set([...now].filter((one) => one !== id))
        : new Set([...now, id].slice(0, CHOSEN_MAX)),
    );
  const picked = rows.filter(({ sensor_id }) => chosen.has(sensor_id));
  const columns = columnsOf(search.columns);
  const deploy = may('tokens:write') && <LinkButton to="/deploy">{TEXTS.deploy}</LinkButton>;
  return (
    <PageFrame title={TEXTS.title} action={deploy}>
      {picked.length > 0 ? (
        <BulkBar chosen={picked} onClear={() => setChosen(new Set())} />
      ) : (
        <div className="fs-toolbar">
          <SensorFilters search={search} onChange={change} />
          <SensorColumnChooser
            named={search.columns}
            onChange={(named) => {
              const { columns: _columns, ...rest } = search;
              change(named === undefined ? rest : { ...rest, columns: named });
            }}
          />
        </div>
      )}
      {sensors.isPending && <RowsSkeleton />}
      {sensors.isError && <Failed error={sensors.error} onRetry={() => void sensors.refetch()} />}
      {sensors.isSuccess &&
        rows.length === 0 &&
        !sensors.hasNextPage &&
        (hasFilter(search) ? (
          <NoMatch title={TEXTS.noMatch} onClear={() => change({})} />
        ) : (
          <Nothing title={TEXTS.noSensors} action={deploy}>
            {TEXTS.noSensorsHint}
          </Nothing>
        ))}
      {(rows.length > 0 || sensors.hasNextPage) && (
        <DataTable
          label={TEXTS.title}
          columns={may('sensors:write') ? [pickColumn(chosen, toggle), ...columns] : columns}
          isSelected={(row) => chosen.has(row.sensor_id)}
          rows={rows}
          rowKey={(row) => row.sensor_id}
          sort={search.sort ?? 'node_name'}
          onSort={(sort) => change({ ...search, sort: sort as NonNullable<SensorSearch['sort']> })}
          hasMore={sensors.hasNextPage}
          isLoadingMore={sensors.isFetchingNextPage}
          onMore={() => {
            if (!sensors.isFetching) void sensors.fetchNextPage();
          }}
        />
      )}
    </PageFrame>
  );
}

function pickColumn(
  chosen: ReadonlySet<string>,
  toggle: (id: string) => void,
): Column<SensorSummary> {
  return {
    ...{ id: 'pick', title: '', width: 34 },
    cell: (row) => (
      <Checkbox
        size="xs"
        aria-label={TEXTS.choose(row.node_name)}
        checked={chosen.has(row.sensor_id)}
        onChange={() => toggle(row.sensor_id)}
      />
    ),
  };
}

type Page = AnswerOf<'GET /sensors'>;
type Entry = Pick<SensorSummary, 'sensor_id' | 'trust_state' | 'trust_health' | 'because'> &
  NonNullable<SensorSummary['states']>;

function useSensors(search: SensorSearch) {
  const cache = useQueryClient();
  const asked = questionOf(search);
  const queryKey = ['GET /sensors', asked];
  const question = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      call(
        'GET /sensors',
        { query: { ...asked, limit: PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: (last: Page) => last.next_cursor,
  });
  useTopic({ topic: 'fleet' }, ({ sensors, truncated }) => {
    if (truncated === true) return void cache.invalidateQueries({ queryKey });
    const changed = new Map((sensors as readonly Entry[]).map((one) => [one.sensor_id, one]));
    if (changed.size === 0) return undefined;
    type Pages = NonNullable<typeof question.data>;
    return void cache.setQueryData<Pages>(queryKey, (held) =>
      held === undefined
        ? held
        : {
            ...held,
            pages: held.pages.map((page) => ({
              ...page,
              items: page.items.map((row) => patched(row, changed.get(row.sensor_id))),
            })),
          },
    );
  });
  return question;
}

function patched(row: SensorSummary, entry: Entry | undefined): SensorSummary {
  if (entry === undefined) return row;
  const { trust_state, trust_health, because, freshness, stream, engine, policy, containment } =
    entry;
  const states = { freshness, stream, engine, policy, containment };
  return { ...row, trust_state, trust_health, because, states };
}
