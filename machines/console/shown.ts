// Every field that is shown of one sensor, in order. decision: D174
import type { ShownField } from './shown-field.ts';
import * as LIST from './shown-list.ts';

const FIELDS: readonly ShownField[] = Object.values(LIST);
export const SHOWN_FIELDS = FIELDS.toSorted((one, other) => one.rank - other.rank);
