// Coverage of every sensor over a span: the share that the Console has, and at which of six places the rest was lost.
import { Select } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { LOSS_PLACES } from '../../../machines/wire/words.ts';
import { useApi } from '../api/client.ts';
import type { FleetCoverage } from '../api/contract.ts';
import { exact, percent, shortId } from '../design/numbers.ts';
import { PageFrame } from '../design/page.tsx';
import { Mark } from '../design/shape.tsx';
import { Answered, Nothing } from '../design/states.tsx';
import { type Column, DataTable } from '../design/table.tsx';
import { COVERAGE_TEXTS as TEXTS } from './texts.ts';

const route = getRouteApi('/shell/coverage');
const SHOWN = 500;
const RANGE_DEFAULT = 'now-24h';
const WELL_FROM = 0.999;

export function CoveragePage() {
  const { from = RANGE_DEFAULT } = route.useSearch();
  const navigate = useNavigate();
  const coverage = useApi('GET /coverage', { query: { from, limit: SHOWN } });
  return (
    <PageFrame title={TEXTS.title} about={TEXTS.about}>
      <Select
        size="xs"
        w={160}
        aria-label={TEXTS.range}
        allowDeselect={false}
        data={Object.entries(TEXTS.ranges).map(([value, label]) => ({ value, label }))}
        value={from}
        onChange={(next) =>
          void navigate({
            to: '/coverage',
            search: next === null || next === RANGE_DEFAULT ? {} : { from: next },
          })
        }
      />
      <Answered of={coverage}>
        {({ items }) =>
          items.length === 0 ? (
            <Nothing title={TEXTS.none} />
          ) : (
            <DataTable
              label={TEXTS.title}
              columns={COLUMNS}
              rows={items}
              rowKey={(row) => row.sensor_id}
            />
          )
        }
      </Answered>
    </PageFrame>
  );
}

const COLUMNS: readonly Column<FleetCoverage>[] = [
  {
    ...{ id: 'sensor', title: TEXTS.sensor, width: 160, grows: true },
    cell: (row) => (
      <Link to="/sensors/$id/overview" params={{ id: row.sensor_id }} title={row.sensor_id}>
        {shortId(row.sensor_id)}
      </Link>
    ),
  },
  {
    ...{ id: 'share', title: TEXTS.share, width: 120 },
    cell: ({ coverage }) =>
      coverage === null ? (
        '–'
      ) : (
        <Mark tone={coverage >= WELL_FROM ? 'good' : 'warn'}>{percent(coverage)}</Mark>
      ),
  },
  { id: 'seen', title: TEXTS.seen, width: 100, isNumber: true, cell: (row) => exact(row.seen) },
  { id: 'lost', title: TEXTS.lost, width: 90, isNumber: true, cell: (row) => exact(row.lost) },
  ...LOSS_PLACES.map(
    (place): Column<FleetCoverage> => ({
      ...{ id: place, title: TEXTS.places[place], width: 105, isNumber: true },
      cell: ({ losses }) => exact(losses[place]),
    }),
  ),
];
