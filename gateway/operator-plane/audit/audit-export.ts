// The audit trail as files. JSON lines of the whole trail begin with its checkpoints and can be verified; they are read
// before the rows, so a checkpoint never names a row that the file is too old to hold. CSV is for people.
import { OPERATOR_EXPORT_PAGE_ROWS, OPERATOR_EXPORT_ROWS_MAX } from '../../../machines/limits.ts';
import type { AuditChain, AuditCheckpoint } from '../../../storage/ports/audit/audit-chain.ts';
import type { AuditLog, AuditRow } from '../../../storage/ports/audit/audit-log.ts';
import { withinDeadline } from '../plumbing/deadline.ts';
import { escapeControls } from '../plumbing/escape-controls.ts';
import { csvCell, type ExportFormat } from '../telemetry/event-export.ts';
import type { AuditQuestion } from './audit-query.ts';
import { type AuditItem, auditItemOf, checkpointItemOf } from './audit-view.ts';

const COLUMNS = [
  'audit_id',
  'at',
  'actor',
  'action',
  'target',
  'result',
  'from',
  'before',
  'after',
  'detail',
  'sequence',
  'hash',
] as const satisfies readonly (keyof AuditItem)[];

export const AUDIT_CSV_HEAD = COLUMNS.join(',');

/** Text chunks of the export; ends at the signal, throws what the store throws. */
export async function* auditChunks(options: {
  readonly audit: Pick<AuditLog, 'search'>;
  readonly question: AuditQuestion;
  readonly firstPage: readonly AuditRow[];
  readonly checkpoints: readonly AuditCheckpoint[];
  readonly format: ExportFormat;
  readonly rowsMax?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}): AsyncGenerator<string> {
  const { audit, question, format, signal } = options;
  let left = Math.min(options.rowsMax ?? OPERATOR_EXPORT_ROWS_MAX, OPERATOR_EXPORT_ROWS_MAX);
  let page = options.firstPage;
  if (format === 'csv') yield `${AUDIT_CSV_HEAD}\r\n`;
  else {
    yield options.checkpoints.map((one) => `${jsonText(checkpointItemOf(one))}\n`).join('');
  }
  while (page.length > 0 && left > 0 && signal?.aborted !== true) {
    const items = page.slice(0, left).map(auditItemOf);
    left -= items.length;
    yield items
      .map((one) => (format === 'csv' ? `${auditCsvLine(one)}\r\n` : `${jsonText(one)}\n`))
      .join('');
    const last = page.at(-1);
    if (page.length < OPERATOR_EXPORT_PAGE_ROWS || last === undefined || left === 0) return;
    page = await withinDeadline(
      audit.search({ ...question, after: last, limit: OPERATOR_EXPORT_PAGE_ROWS }),
    );
  }
}

/** Every checkpoint, page by page. */
export async function allCheckpoints(
  chain: Pick<AuditChain, 'checkpoints'>,
): Promise<readonly AuditCheckpoint[]> {
  const all: AuditCheckpoint[] = [];
  for (;;) {
    const after = all.at(-1)?.sequence ?? 0;
    const page = await withinDeadline(
      chain.checkpoints({ after, limit: OPERATOR_EXPORT_PAGE_ROWS }),
    );
    all.push(...page);
    if (page.length < OPERATOR_EXPORT_PAGE_ROWS) return all;
  }
}

/** One row as CSV without its line end: no cell is a formula or holds a control byte. */
export function auditCsvLine(item: AuditItem): string {
  return COLUMNS.map((name) => {
    const value = item[name];
    return csvCell(typeof value === 'object' && value !== null ? JSON.stringify(value) : value);
  }).join(',');
}

function jsonText(value: unknown): string {
  const escaped = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`;
  return escapeControls(JSON.stringify(value), escaped);
}
