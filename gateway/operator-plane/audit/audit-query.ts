// The filter of an audit question, from query parameters to the audit log's query. As with events, a relative time is
// made absolute once and travels in the cursor.
import Type from 'typebox';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import { AUDIT_TEXT_MAX_CHARS } from '../../../machines/limits.ts';
import type { AuditQuery, AuditRow } from '../../../storage/ports/audit/audit-log.ts';
import type { CursorPosition, CursorSigner } from '../plumbing/cursor.ts';
import { PageQuery, Strict } from '../plumbing/shapes.ts';
import { INSTANT_PATTERN, parseInstant } from '../plumbing/time-range.ts';

const LIST = 'audit';
const Exact = Type.String({ minLength: 1, maxLength: AUDIT_TEXT_MAX_CHARS });
const Instant = Type.String({
  pattern: INSTANT_PATTERN,
  maxLength: 40,
  description: 'RFC 3339, or relative: now-1h',
});
const FILTER = {
  actor: Type.Optional(Exact),
  action: Type.Optional(Exact),
  target: Type.Optional(Exact),
  result: Type.Optional(Exact),
  from: Type.Optional(Instant),
  to: Type.Optional(Instant),
  order: Type.Optional(
    Type.Enum(['newest', 'chain'], {
      description: '`chain`: sealed rows by sequence, then the open tail',
    }),
  ),
};
const AuditFilter = Strict(FILTER);
export type AuditFilter = Type.Static<typeof AuditFilter>;
export const AuditListQuery = Strict({ ...FILTER, ...PageQuery });

export type AuditQuestion = Omit<AuditQuery, 'limit'>;

/** Resolves a filter and an optional cursor. */
export function auditQuestionOf(options: {
  readonly filter: AuditFilter;
  readonly cursor: string | undefined;
  readonly cursors: CursorSigner;
  readonly nowMs: number;
}): { readonly ok: true; readonly question: AuditQuestion } | Refusal {
  const { filter, cursor, cursors, nowMs } = options;
  const opened = cursor === undefined ? null : cursors.open(LIST, filter, cursor);
  if (opened?.ok === false) return opened;
  const range = opened === null ? rangeOf(filter, nowMs) : positionRange(opened.position);
  if ('ok' in range) return range;
  const { actor, action, target, result, order = 'newest' } = filter;
  const after = opened === null ? null : keyOf(opened.position);
  return { ok: true, question: { actor, action, target, result, ...range, order, after } };
}

/** The cursor behind a row of this question. */
export function auditCursorAfter(
  cursors: CursorSigner,
  filter: AuditFilter,
  question: AuditQuestion,
  last: AuditRow,
): string {
  return cursors.seal(LIST, filter, {
    f: question.fromMs ?? null,
    t: question.toMs ?? null,
    i: last.auditId,
    s: last.sequence,
  });
}

/** Whether a question asks for the whole trail: only that can be verified. */
export function isWholeTrail(filter: AuditFilter): boolean {
  const { order: _order, ...narrowing } = filter;
  return Object.values(narrowing).every((value) => value === undefined);
}

type Range = { readonly fromMs?: number; readonly toMs?: number };

function rangeOf(filter: AuditFilter, nowMs: number): Range | Refusal {
  const range: { fromMs?: number; toMs?: number } = {};
  const errors: { pointer: string; detail: string }[] = [];
  for (const name of ['from', 'to'] as const) {
    const text = filter[name];
    if (text === undefined) continue;
    const ms = parseInstant(text, nowMs);
    if (ms === null) errors.push({ pointer: `/query/${name}`, detail: 'there is no such instant' });
    else range[`${name}Ms`] = ms;
  }
  return errors.length === 0
    ? range
    : refuse('schema_violation', 'The time range cannot be used.', { errors });
}

// A cursor is signed, so what it holds is what `auditCursorAfter` put there.
function positionRange({ f, t }: CursorPosition): Range {
  return {
    ...(typeof f === 'number' ? { fromMs: f } : {}),
    ...(typeof t === 'number' ? { toMs: t } : {}),
  };
}

function keyOf({ i, s }: CursorPosition) {
  return { auditId: Number(i), sequence: typeof s === 'number' ? s : null };
}
