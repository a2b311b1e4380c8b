// Every field that is shown of a sensor, in order, and the columns among them. decision: D174
import type { ShownColumn, ShownField } from './shown-field.ts';
import * as LIST from './shown-list.ts';

const FIELDS: readonly ShownField[] = Object.values(LIST);
export const SHOWN_FIELDS = FIELDS.toSorted((one, other) => one.rank - other.rank);

/** Of lists; `id` is the title as addresses and commands write it. */
export const LISTED_FIELDS: readonly (ShownColumn & {
  readonly title: string;
  readonly id: string;
})[] = SHOWN_FIELDS.flatMap(({ title, column }) =>
  column === undefined ? [] : [{ ...column, title, id: title.toLowerCase().replaceAll(' ', '-') }],
);
