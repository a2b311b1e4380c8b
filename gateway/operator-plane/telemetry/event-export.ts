// A whole filter as CSV or NDJSON, streamed page by page: the reader's speed sets the pace and a reader that leaves stops
// the questions. Event text is attacker text: CSV cells cannot become formulas, and no control byte leaves unescaped.
import { OPERATOR_EXPORT_PAGE_ROWS, OPERATOR_EXPORT_ROWS_MAX } from '../../../machines/limits.ts';
import type { StoredEvent } from '../../../machines/wire/event.ts';
import type { EventStore } from '../../../storage/ports/telemetry/event-store.ts';
import { escapeControls } from '../plumbing/escape-controls.ts';
import { type EventQuestion, keyAfter } from './event-query.ts';

export type ExportFormat = 'csv' | 'ndjson';
export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
};

type Column = readonly [name: string, read: (event: StoredEvent) => unknown];
const COLUMNS: readonly Column[] = [
  ['observed_at', (event) => event.observed_at],
  ['received_at', (event) => event.received_at],
  ['event_id', (event) => event.event_id],
  ['sensor_id', (event) => event.sensor_id],
  ['node_name', (event) => event.node_name],
  ['event_kind', (event) => event.event_kind],
  ['severity', (event) => event.severity],
  ['message', (event) => event.message],
  ['pid', (event) => event.process?.pid],
  ['uid', (event) => event.process?.uid],
  ['binary', (event) => event.process?.binary],
  ['arguments', (event) => event.process?.arguments],
  ['parent_binary', (event) => event.parent?.binary],
  ['container_id', (event) => event.workload?.container_id],
  ['k8s_namespace', (event) => event.workload?.k8s_namespace],
  ['pod_name', (event) => event.workload?.pod_name],
  ['protocol', (event) => event.network?.protocol],
  ['source_ip', (event) => event.network?.source_ip],
  ['source_port', (event) => event.network?.source_port],
  ['destination_ip', (event) => event.network?.destination_ip],
  ['destination_port', (event) => event.network?.destination_port],
  ['domain', (event) => event.network?.domain],
  ['file_path', (event) => event.file?.path],
  ['policy', (event) => event.policy?.name],
  ['mitre_technique', (event) => event.mitre?.technique],
  ['occurrences', (event) => event.occurrences],
];

/** The format an Accept header asks for first; null for the ordinary JSON page. */
export function exportFormatOf(accept: string | undefined): ExportFormat | null {
  for (const part of (accept ?? '').split(',')) {
    const type = part.split(';', 1)[0]?.trim().toLowerCase();
    if (type === 'text/csv') return 'csv';
    if (type === 'application/x-ndjson') return 'ndjson';
    if (type === 'application/json') return null;
  }
  return null;
}

/**
 * The export as text chunks, one a page, after the first page (which the caller asked for, so that a store that is away
 * is still an ordinary refusal). Ends at the signal; throws what the store throws.
 */
export async function* exportChunks(options: {
  readonly search: EventStore['search'];
  readonly question: EventQuestion;
  readonly firstPage: readonly StoredEvent[];
  readonly format: ExportFormat;
  readonly rowsMax?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}): AsyncGenerator<string> {
  const { search, format, signal } = options;
  let left = Math.min(options.rowsMax ?? OPERATOR_EXPORT_ROWS_MAX, OPERATOR_EXPORT_ROWS_MAX);
  let page = options.firstPage;
  if (format === 'csv') yield `${COLUMNS.map(([name]) => name).join(',')}\r\n`;
  while (page.length > 0 && left > 0 && signal?.aborted !== true) {
    const rows = page.slice(0, left);
    left -= rows.length;
    yield rows.map((event) => (format === 'csv' ? csvLine(event) : jsonLine(event))).join('');
    const last = page.at(-1);
    if (page.length < OPERATOR_EXPORT_PAGE_ROWS || last === undefined || left === 0) return;
    page = await search({
      ...options.question,
      after: keyAfter(last),
      limit: OPERATOR_EXPORT_PAGE_ROWS,
    });
  }
}

function csvLine(event: StoredEvent): string {
  return `${COLUMNS.map(([, read]) => csvCell(read(event))).join(',')}\r\n`;
}

/**
 * Where a cell may begin that a spreadsheet computes: at the start, and after what separates cells for readers of other
 * countries. Wide forms of the signs count as the signs.
 */
const FORMULA_START = /(^|[;|])(?=[\s"]*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/g;

/** One CSV cell: never a formula, never a control byte. */
export function csvCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = String(value);
  const plain = escapeControls(text.replace(FORMULA_START, "$1'"));
  return /[",]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

function jsonLine(event: StoredEvent): string {
  // JSON escapes the first 32 by itself; what a terminal also obeys is escaped here.
  return `${escapeControls(JSON.stringify(event), (code) => `\\u${code.toString(16).padStart(4, '0')}`)}\n`;
}
