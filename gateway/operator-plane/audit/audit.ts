// The resource `audit`: who did what, and the signed checkpoints that make the trail verifiable elsewhere. Taking the
// trail out of the Console is itself audited. decision: D35; invariant: I17
import { Readable } from 'node:stream';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { OPERATOR_EXPORT_PAGE_ROWS, PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import type { AuditChain } from '../../../storage/ports/audit/audit-chain.ts';
import type { AuditLog } from '../../../storage/ports/audit/audit-log.ts';
import type { CursorSigner } from '../plumbing/cursor.ts';
import { withinDeadline } from '../plumbing/deadline.ts';
import { operatorOf } from '../plumbing/guard.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { currentScope } from '../plumbing/request-scope.ts';
import { PageOf, PageQuery, refusals, Strict } from '../plumbing/shapes.ts';
import { timeText } from '../plumbing/time-range.ts';
import { EXPORT_TYPES, type ExportFormat, exportFormatOf } from '../telemetry/event-export.ts';
import { allCheckpoints, auditChunks } from './audit-export.ts';
import {
  type AuditFilter,
  AuditListQuery,
  type AuditQuestion,
  auditCursorAfter,
  auditQuestionOf,
  isWholeTrail,
} from './audit-query.ts';
import { AuditItem, auditItemOf, CheckpointItem, checkpointItemOf } from './audit-view.ts';

type AuditDeps = {
  readonly audit: Pick<AuditLog, 'append' | 'search'>;
  readonly auditChain: Pick<AuditChain, 'checkpoints'>;
  readonly cursors: CursorSigner;
  readonly now: () => number;
};

const auditContent = {
  description: 'A page, or the whole filter as CSV or NDJSON.',
  content: {
    'application/json': { schema: PageOf(AuditItem) },
    'application/x-ndjson': { schema: Type.String() },
    'text/csv': { schema: Type.String() },
  },
};

export function auditRoutes(deps: AuditDeps): FastifyPluginAsyncTypebox {
  return async (app) => {
    app.get('/audit', {
      config: { guard: { scope: 'audit:read' } },
      schema: {
        operationId: 'searchAudit',
        summary: 'Search the audit trail',
        description:
          'Newest first unless `order=chain`. With `Accept: text/csv` or `application/x-ndjson` the whole filter is streamed; NDJSON without a filter is in chain order, begins with the checkpoints, and is what `service-console audit verify` reads.',
        tags: ['audit'],
        querystring: AuditListQuery,
        response: { 200: auditContent, ...refusals(401, 403, 422, 429, 503, 504) },
      },
      handler: async (request, reply) => {
        const { limit, cursor, ...filter } = request.query;
        const resolved = auditQuestionOf({
          ...{ filter, cursor, cursors: deps.cursors },
          nowMs: deps.now(),
        });
        if (!resolved.ok) return sendRefusal(reply, resolved);
        const { question } = resolved;
        reply.header('vary', 'accept');
        const format = exportFormatOf(request.headers.accept);
        if (format !== null) {
          await sendExport(deps, { filter, question, format, rowsMax: limit }, request, reply);
          return reply;
        }
        const size = limit ?? PAGE_ITEMS_DEFAULT;
        const found = await withinDeadline(deps.audit.search({ ...question, limit: size + 1 }));
        const rows = found.slice(0, size);
        const last = rows.at(-1);
        const hasMore = found.length > size && last !== undefined;
        const next = hasMore ? auditCursorAfter(deps.cursors, filter, question, last) : null;
        return pageOf(reply, rows.map(auditItemOf), next);
      },
    });

    app.get('/audit/checkpoints', {
      config: { guard: { scope: 'audit:read' } },
      schema: {
        operationId: 'listAuditCheckpoints',
        summary: 'Signed checkpoints of the audit trail, oldest first',
        tags: ['audit'],
        querystring: Strict(PageQuery),
        response: { 200: PageOf(CheckpointItem), ...refusals(401, 403, 422, 429, 503) },
      },
      handler: async (request, reply) => {
        const { limit = PAGE_ITEMS_DEFAULT, cursor } = request.query;
        const opened = cursor === undefined ? null : deps.cursors.open('checkpoints', null, cursor);
        if (opened?.ok === false) return sendRefusal(reply, opened);
        const after = opened === null ? 0 : Number(opened.position['s']);
        const found = await deps.auditChain.checkpoints({ after, limit: limit + 1 });
        const items = found.slice(0, limit).map(checkpointItemOf);
        const s = found.length > limit ? items.at(-1)?.sequence : undefined;
        const next = s === undefined ? null : deps.cursors.seal('checkpoints', null, { s });
        return pageOf(reply, items, next);
      },
    });
  };
}

type Export = {
  readonly filter: AuditFilter;
  readonly question: AuditQuestion;
  readonly format: ExportFormat;
  readonly rowsMax: number | undefined;
};

async function sendExport(
  deps: AuditDeps,
  { filter, question: asked, format, rowsMax }: Export,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { audit } = deps;
  const isVerifiable = format === 'ndjson' && isWholeTrail(filter);
  const question: AuditQuestion = isVerifiable ? { ...asked, order: 'chain' } : asked;
  const atMs = deps.now();
  await audit.append([
    {
      ...{ atMs, actor: operatorOf(request).actor, action: 'audit.export', target: format },
      ...{ result: 'ok', from: request.ip, detail: { filter } },
    },
  ]);
  const checkpoints = isVerifiable ? await allCheckpoints(deps.auditChain) : [];
  const firstPage = await withinDeadline(
    audit.search({ ...question, limit: OPERATOR_EXPORT_PAGE_ROWS }),
  );
  const signal = currentScope()?.signal;
  const chunks = auditChunks({
    ...{ audit, question, firstPage, checkpoints, format, rowsMax, signal },
  });
  const stamp = timeText(atMs).replaceAll(/[:.]/g, '-');
  reply.header('content-type', EXPORT_TYPES[format]);
  reply.header('content-disposition', `attachment; filename="audit-${stamp}.${format}"`);
  reply.send(Readable.from(chunks, { highWaterMark: 1, objectMode: true }));
}
