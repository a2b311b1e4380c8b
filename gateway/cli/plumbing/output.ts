// Lists and records in the format that was asked for. Tables are borderless with upper-case heads, so that scripts and
// eyes both read them.
import Table from 'cli-table3';
import { stringify } from 'yaml';
import { wrapWords } from '../../../machines/wrap-words.ts';
import { CommandFailure, EXIT } from './exit.ts';
import { plain, type Terminal } from './terminal.ts';

const PADDING = 3;
/** Of a value beside its name, however narrow the terminal is. */
const LINE_MIN_CHARS = 40;

export const FORMATS = ['table', 'wide', 'json', 'yaml', 'jsonl', 'name'] as const;
export type Format = (typeof FORMATS)[number];

export type Column<T> = {
  readonly head: string;
  /** Several values stand under each other. */
  readonly read: (item: T) => string | readonly string[];
  /** Only in `-o wide`. */
  readonly wide?: boolean;
};

export type View<T> = {
  readonly columns: readonly Column<T>[];
  readonly name: (item: T) => string;
  /** Said on stderr when a table would be empty. */
  readonly empty: string;
};

/** Checks `-o`. */
export function formatOf<F extends string>(text: string, known: readonly F[]): F {
  const format = known.find((one) => one === text);
  if (format !== undefined) return format;
  throw new CommandFailure(EXIT.usage, `-o ${text} is not a format`, `one of ${known.join(', ')}`);
}

/** Prints a list. */
export function printList<T>(
  terminal: Terminal,
  items: readonly T[],
  view: View<T>,
  options: { readonly format: Format; readonly headers: boolean },
): void {
  const { format } = options;
  if (format === 'json') terminal.out(json(items));
  else if (format === 'yaml') terminal.out(stringify(items).trimEnd());
  else if (format === 'jsonl') for (const item of items) terminal.out(jsonLine(item));
  else if (format === 'name') for (const item of items) terminal.out(plain(view.name(item)));
  else if (items.length === 0) terminal.talk(view.empty);
  else printTable(terminal, items, view.columns, options);
}

/** Prints one record; a table becomes lines of name and value. */
export function printRecord<T>(
  terminal: Terminal,
  item: T,
  view: View<T>,
  options: { readonly format: Format; readonly headers: boolean },
): void {
  const { format } = options;
  if (format === 'json') {
    terminal.out(json(item));
    return;
  }
  if (format !== 'table' && format !== 'wide') {
    printList(terminal, [item], view, options);
    return;
  }
  const heads = Math.max(...view.columns.map(({ head }) => head.length)) + PADDING;
  const room = Math.max((terminal.columns ?? Number.POSITIVE_INFINITY) - heads, LINE_MIN_CHARS);
  const rows = view.columns.map(({ head, read }) => [head, wrapped(cell(read(item)), room)]);
  const table = borderless();
  table.push(...rows);
  for (const line of table.toString().split('\n')) terminal.out(line.trimEnd());
}

function printTable<T>(
  terminal: Terminal,
  items: readonly T[],
  columns: readonly Column<T>[],
  options: { readonly format: Format; readonly headers: boolean },
): void {
  const shown = columns.filter(({ wide }) => wide !== true || options.format === 'wide');
  const table = borderless();
  if (options.headers) table.push(shown.map(({ head }) => head));
  for (const item of items) table.push(shown.map(({ read }) => cell(read(item))));
  for (const line of table.toString().split('\n')) terminal.out(line.trimEnd());
}

// Each made safe by itself: a value cannot begin a line.
function cell(values: string | readonly string[]): string {
  return typeof values === 'string' ? plain(values) : values.map(plain).join('\n') || '-';
}

function wrapped(text: string, room: number): string {
  return text
    .split('\n')
    .flatMap((line) => wrapWords(line, room))
    .join('\n');
}

function borderless() {
  const edges = ['top', 'bottom', 'left', 'right'];
  const parts = ['', '-mid', '-left', '-right'];
  const chars = Object.fromEntries(edges.flatMap((edge) => parts.map((part) => [edge + part, ''])));
  return new Table({
    chars: { ...chars, mid: '', 'mid-mid': '', 'left-mid': '', 'right-mid': '', middle: '' },
    style: { 'padding-left': 0, 'padding-right': PADDING, head: [], border: [] },
  });
}

/** JSON for people and programs; a terminal cannot be steered by it. */
export function json(value: unknown): string {
  return unsteered(JSON.stringify(value, null, 2));
}

/** One line of JSON. */
export function jsonLine(value: unknown): string {
  return unsteered(JSON.stringify(value));
}

// JSON escapes the first 32 control characters itself; these are the others that a terminal obeys.
function unsteered(text: string): string {
  return text.replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
