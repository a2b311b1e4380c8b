// Rows of which only some fields are read, as events that have no more than these. decision: D131
import type { EventWants } from '../../machines/detection/event-wants.ts';
import { fieldOf } from '../../machines/detection/fields.ts';
import type { StoredEvent } from '../../machines/wire/event.ts';
import { type FieldValue, partialEvents } from '../ports/telemetry/partial-event.ts';
import { timestampOfNanos } from '../ports/telemetry/stored-event.ts';
import { ancestorsOf, type EventRow, processOf } from './event-rows.ts';
import { FIELD_COLUMNS } from './field-columns.ts';

export type PartialRow = Pick<EventRow, (typeof HEAD)[number] | 'received_ms' | 'observed_ns'> &
  Partial<Pick<EventRow, (typeof TREE)[number]>> & { readonly [column: `f${number}`]: FieldValue };

const HEAD = [
  ...(['sensor_id', 'node_name', 'event_id', 'schema_version', 'event_kind', 'severity'] as const),
] as const;
const TREE = ['process', 'parent', 'ancestors'] as const;

export type PartialRows = {
  /** Columns of a row. */
  readonly columns: string;
  readonly eventOf: (row: PartialRow) => StoredEvent;
};

/** How to ask for what is wanted, and how to read the answer. */
export function partialRows(wants: EventWants): PartialRows {
  const { fields, eventOf } = partialEvents(wants);
  const named = fields.map((field, place) => {
    const { present, value, each } = FIELD_COLUMNS[field];
    const column = each ?? (present === null ? value : `if(${present}, ${value}, NULL)`);
    return `${column} AS f${place}`;
  });
  const times = [
    'toUnixTimestamp64Milli(received_at) AS received_ms',
    'toUnixTimestamp64Nano(observed_at) AS observed_ns',
  ];
  // 64-bit numbers come as text.
  const readers = fields.map((field) => (fieldOf(field).kind === 'integer' ? numberOf : asItIs));
  return {
    columns: [...HEAD, ...times, ...(wants.isOfTree ? TREE : []), ...named].join(', '),
    eventOf(row) {
      const { sensor_id, node_name, event_id, schema_version, event_kind, severity } = row;
      const head = {
        ...{ sensor_id, node_name, event_id, schema_version, event_kind, severity },
        received_at: new Date(Number(row.received_ms)).toISOString(),
        observed_at: timestampOfNanos(row.observed_ns),
      };
      const values = readers.map((read, place) => read(row[`f${place}`]));
      return eventOf(head, wants.isOfTree ? treeOf(row) : NO_TREE, values);
    },
  };
}

const NO_TREE = {};

function treeOf(row: PartialRow) {
  const [process, parent] = [processOf(row.process), processOf(row.parent)];
  const ancestors = ancestorsOf(row.ancestors ?? []);
  return {
    ...(process === null ? {} : { process }),
    ...(parent === null ? {} : { parent }),
    ...(ancestors.length === 0 ? {} : { ancestors }),
  };
}

function numberOf(value: FieldValue): FieldValue {
  return value === null || value === undefined ? value : Number(value);
}

function asItIs(value: FieldValue): FieldValue {
  return value;
}
