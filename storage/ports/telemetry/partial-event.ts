// An event of which only some fields were read: the others are absent, as if the event had none. Every event store makes
// them alike. decision: D131
import type { EventWants } from '../../../machines/detection/event-wants.ts';
import { type FieldName, fieldOf } from '../../../machines/detection/fields.ts';
import type { StoredEvent } from '../../../machines/wire/event.ts';

type One = string | number | null | undefined;
export type FieldValue = One | readonly One[];
type Head = Pick<
  StoredEvent,
  | 'sensor_id'
  | 'node_name'
  | 'received_at'
  | 'observed_at'
  | 'event_id'
  | 'schema_version'
  | 'event_kind'
  | 'severity'
>;
type Tree = Pick<StoredEvent, 'process' | 'parent' | 'ancestors'>;

/** Fields that every event comes with. */
const HEAD_FIELDS: ReadonlySet<string> = new Set<FieldName & keyof Head>([
  ...(['event_id', 'event_kind', 'severity', 'sensor_id', 'node_name'] as const),
]);
const TREE_PARTS: ReadonlySet<string> = new Set(['process', 'parent', 'ancestors']);

export type PartialEvents = {
  /** The fields that have to be read one by one, beside head and tree. */
  readonly fields: readonly FieldName[];
  /** Puts an event together; `values`: those of `fields`, null and undefined are absent. */
  readonly eventOf: (head: Head, tree: Tree, values: readonly FieldValue[]) => StoredEvent;
};
type Draft = Record<string, unknown>;
type Put = (event: Draft, value: One | readonly One[]) => void;

/** How events of which so much is wanted are put together. */
export function partialEvents({ fields: wanted, isOfTree }: EventWants): PartialEvents {
  const fields = wanted.filter((field) => {
    const [part = field] = field.split('.');
    return !HEAD_FIELDS.has(field) && !(isOfTree && TREE_PARTS.has(part));
  });
  const puts = fields.map(putOf);
  return {
    fields,
    eventOf(head, tree, values) {
      const event: Draft = isOfTree ? { ...head, ...tree } : { ...head };
      for (const [place, put] of puts.entries()) {
        const value = values[place];
        if (value !== null && value !== undefined) put(event, value);
      }
      return event as unknown as StoredEvent;
    },
  };
}

function putOf(field: FieldName): Put {
  const [part = field, name] = field.split('.');
  if (name === undefined) {
    return (event, value) => {
      event[part] = value;
    };
  }
  if (fieldOf(field).readAll === undefined) {
    return (event, value) => {
      event[part] = { ...(event[part] as Draft | undefined), [name]: value };
    };
  }
  // One member of several: of the first ancestor, of the second one, and so on.
  return (event, values) => {
    if (!Array.isArray(values) || values.length === 0) return;
    const known = event[part] as readonly Draft[] | undefined;
    event[part] = values.map((value: One, place) => ({
      ...known?.[place],
      ...(value === null || value === undefined ? {} : { [name]: value }),
    }));
  };
}
