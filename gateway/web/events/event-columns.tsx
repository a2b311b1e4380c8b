// The columns of the list of events, and which of them are shown.
import { Link } from '@tanstack/react-router';
import type { EventItem } from '../api/contract.ts';
import { ColumnChooser } from '../design/column-chooser.tsx';
import { SeverityMark } from '../design/severity.tsx';
import type { Column } from '../design/table.tsx';
import { At } from '../design/time.tsx';
import { EVENT_TEXTS as TEXTS } from './texts.ts';

type EventColumn = Column<EventItem>;
const ALWAYS = 'message';
const USUAL: readonly string[] = ['time', 'severity', 'kind', 'node'];

const quoted = (text: string | undefined) => <bdi title={text}>{text}</bdi>;

const COLUMNS: readonly EventColumn[] = [
  { id: 'time', title: TEXTS.time, width: 145, cell: (event) => <At at={event.observed_at} /> },
  {
    ...{ id: 'severity', title: TEXTS.severity, width: 100 },
    cell: (event) => <SeverityMark severity={event.severity} />,
  },
  { id: 'kind', title: TEXTS.kind, width: 132, cell: (event) => event.event_kind },
  {
    ...{ id: 'node', title: TEXTS.node, width: 120 },
    cell: (event) => (
      <Link to="/sensors/$id/overview" params={{ id: event.sensor_id }} title={event.node_name}>
        <bdi>{event.node_name}</bdi>
      </Link>
    ),
  },
  { id: ALWAYS, title: TEXTS.message, width: 240, grows: true, cell: () => null },
  {
    ...{ id: 'binary', title: TEXTS.binary, width: 180 },
    cell: (event) => quoted(event.process?.binary),
  },
  {
    ...{ id: 'arguments', title: TEXTS.arguments, width: 220 },
    cell: (event) => quoted(event.process?.arguments),
  },
  {
    ...{ id: 'user', title: TEXTS.user, width: 70, isNumber: true },
    cell: (event) => event.process?.uid,
  },
  {
    ...{ id: 'parent', title: TEXTS.parent, width: 160 },
    cell: (event) => quoted(event.parent?.binary),
  },
  {
    ...{ id: 'destination', title: TEXTS.destination, width: 180 },
    cell: ({ network }) => quoted(network?.domain ?? network?.destination_ip),
  },
  { id: 'file', title: TEXTS.file, width: 180, cell: (event) => quoted(event.file?.path) },
  { id: 'policy', title: TEXTS.policy, width: 140, cell: (event) => quoted(event.policy?.name) },
];

/** Those that an address names, or the usual ones; a list of one node says its name nowhere. */
export function columnsOf(
  named: readonly string[] | undefined,
  isFleet: boolean,
  onOpen: (event: EventItem) => void,
): readonly EventColumn[] {
  const shown = named ?? USUAL;
  return COLUMNS.filter(({ id }) => id === ALWAYS || shown.includes(id))
    .filter(({ id }) => isFleet || id !== 'node')
    .map((column) =>
      column.id === ALWAYS ? { ...column, cell: (event) => messageOf(event, onOpen) } : column,
    );
}

function messageOf(event: EventItem, onOpen: (event: EventItem) => void) {
  return (
    <button
      type="button"
      className="fs-row-button"
      onClick={() => onOpen(event)}
      title={event.message}
    >
      <bdi>{event.message}</bdi>
    </button>
  );
}

export function EventColumnChooser({
  named,
  onChange,
}: {
  readonly named: readonly string[] | undefined;
  readonly onChange: (named: readonly string[] | undefined) => void;
}) {
  return (
    <ColumnChooser
      columns={COLUMNS.filter(({ id }) => id !== ALWAYS)}
      shown={named ?? USUAL}
      onChange={onChange}
    />
  );
}
