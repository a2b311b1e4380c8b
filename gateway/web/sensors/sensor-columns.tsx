// The columns of the list, which of them are shown, and where people choose.
import { Link } from '@tanstack/react-router';
import { LISTED_FIELDS } from '../../../machines/console/shown.ts';
import type { SensorSummary } from '../api/contract.ts';
import { ColumnChooser } from '../design/column-chooser.tsx';
import type { Column } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { HealthBadge } from './health-badge.tsx';
import { StateMark } from './state-marks.tsx';
import { SENSOR_TEXTS as TEXTS } from './texts.ts';

/** Every column, in the order of the table; the name is always there. */
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
    width: 95,
    cell: (row) => <StateMark state={row.states?.stream} />,
  },
  {
    ...{ id: 'engine', title: TEXTS.engine, width: 150, sort: 'engine' },
    cell: (row) => (
      <span className="fs-mark">
        <StateMark state={row.states?.engine} />
        <span className="fs-quiet">{row.engine_kind}</span>
      </span>
    ),
  },
  {
    ...{ id: 'os', title: TEXTS.os, width: 100, grows: true, sort: 'os' },
    cell: ({ system }) => `${system.os_name} ${system.os_version}`,
  },
  { id: 'kernel', title: TEXTS.kernel, width: 120, cell: ({ system }) => system.kernel_version },
  { id: 'flavor', title: TEXTS.flavor, width: 90, cell: (row) => row.flavor },
  { id: 'role', title: TEXTS.role, width: 110, cell: (row) => row.declared_role },
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
  {
    id: 'enrolled',
    title: TEXTS.enrolled,
    width: 105,
    cell: (row) => <Ago at={row.enrolled_at} />,
  },
  { id: 'tags', title: TEXTS.tags, width: 100, cell: (row) => row.tags.join(', ') },
  // What capabilities declare. decision: D174
  ...LISTED_FIELDS.map(
    ({ id, title, width, as, read }): Column<SensorSummary> => ({
      ...{ id, title, width },
      cell: (row) => (as === 'state' ? <StateMark state={read(row)} /> : read(row)),
    }),
  ),
];
const USUAL = ['health', 'freshness', 'stream', 'engine', 'os', 'version', 'heartbeat', 'expires'];
const ALWAYS = 'name';
const SHOWN_AT_FIRST: readonly string[] = [...USUAL, 'tags'];

/** Those that an address names; the usual ones when it names none. */
export function columnsOf(named: readonly string[] | undefined): readonly Column<SensorSummary>[] {
  const shown = named ?? SHOWN_AT_FIRST;
  return COLUMNS.filter(({ id }) => id === ALWAYS || shown.includes(id));
}

export function SensorColumnChooser({
  named,
  onChange,
}: {
  readonly named: readonly string[] | undefined;
  readonly onChange: (named: readonly string[] | undefined) => void;
}) {
  return (
    <ColumnChooser
      columns={COLUMNS.filter(({ id }) => id !== ALWAYS)}
      shown={named ?? SHOWN_AT_FIRST}
      onChange={onChange}
    />
  );
}
