// The fleet as a list: filtered and ordered by the Console, patched in place by the live channel, however long it is.
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { call } from '../api/client.ts';
import type { AnswerOf, SensorSummary } from '../api/contract.ts';
import { useTopic } from '../api/live.ts';
import { LinkButton } from '../design/link-button.tsx';
import { PageFrame } from '../design/page.tsx';
import { Failed, NoMatch, Nothing, RowsSkeleton } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { useMay } from '../session/session.ts';
import { HealthBadge } from './health-badge.tsx';
import { SensorFilters } from './sensor-filters.tsx';
import { hasFilter, type SensorSearch } from './sensor-search.ts';
import { StateMark } from './state-marks.tsx';
import { SENSOR_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/sensors');
const PAGE = 200;

const COLUMNS: readonly Column<SensorSummary>[] = [
  {
    ...{ id: 'name', title: TEXTS.name, width: 130, grows: true, sort: 'node_name' },
    cell: (row) => (
      <Link to="/sensors/$id/overview" params={{ id: row.sensor_id }} title={row.node_name}>
        <bdi>{row.node_name}</bdi>
      </Link>
    ),
  },
  {
    ...{ id: 'health', title: TEXTS.health, width: 165, sort: 'trust_health' },
    cell: (row) => <HealthBadge sensorId={row.sensor_id} health={row.trust_health} />,
  },
  {
    ...{ id: 'freshness', title: TEXTS.freshness, width: 95, sort: 'freshness' },
    cell: (row) => <StateMark state={row.states?.freshness} />,
  },
  {
    id: 'stream',
    title: TEXTS.stream,
    width: 80,
    cell: (row) => <StateMark state={row.states?.stream} />,
  },
  {
    ...{ id: 'engine', title: TEXTS.engine, width: 130, sort: 'engine' },
    cell: (row) => (
      <span className="fs-mark">
        <StateMark state={row.states?.engine} />
        <span className="fs-quiet">{row.engine_kind}</span>
      </span>
    ),
  },
  {
    ...{ id: 'os', title: TEXTS.os, width: 100, sort: 'os' },
    cell: ({ system }) => `${system.os_name} ${system.os_version}`,
  },
  {
    ...{ id: 'version', title: TEXTS.version, width: 70, sort: 'sensor_version' },
    cell: (row) => row.sensor_version,
  },
  {
    ...{ id: 'heartbeat', title: TEXTS.heartbeat, width: 105, sort: 'last_heartbeat_at' },
    cell: (row) => <Ago at={row.last_heartbeat_at} />,
  },
  {
    ...{ id: 'expires', title: TEXTS.expires, width: 115, sort: 'certificate_expires_at' },
    cell: (row) => <Ago at={row.certificate_expires_at} />,
  },
  { id: 'tags', title: TEXTS.tags, width: 100, cell: (row) => row.tags.join(', ') },
];

export function SensorsPage() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const may = useMay();
  const sensors = useSensors(search);
  const rows = sensors.data?.pages.flatMap(({ items }) => items) ?? [];
  const change = (next: SensorSearch) => void navigate({ to: '/sensors', search: next });
  const deploy = may('tokens:write') && <LinkButton to="/deploy">{TEXTS.deploy}</LinkButton>;
  return (
    <PageFrame title={TEXTS.title} action={deploy}>
      <SensorFilters search={search} onChange={change} />
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
          columns={COLUMNS}
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

type Page = AnswerOf<'GET /sensors'>;
type Entry = Pick<SensorSummary, 'sensor_id' | 'trust_state' | 'trust_health' | 'because'> &
  NonNullable<SensorSummary['states']>;

function useSensors(search: SensorSearch) {
  const cache = useQueryClient();
  const queryKey = ['GET /sensors', search];
  const question = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      call(
        'GET /sensors',
        { query: { ...search, limit: PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) } },
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
