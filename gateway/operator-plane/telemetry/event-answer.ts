// Answers an event question as a page or, when asked by Accept, as a streamed export of the whole filter.

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OPERATOR_EXPORT_PAGE_ROWS, PAGE_ITEMS_DEFAULT } from '../../../machines/limits.ts';
import type { EventQuery } from '../../../storage/ports/telemetry/event-store.ts';
import { pageOf } from '../plumbing/pages.ts';
import { sendRefusal } from '../plumbing/problem-reply.ts';
import { currentScope } from '../plumbing/request-scope.ts';
import { timeText } from '../plumbing/time-range.ts';
import { askEvents } from './ask-events.ts';
import { EXPORT_TYPES, exportChunks, exportFormatOf } from './event-export.ts';
import { cursorAfter, type EventFilter, questionOf } from './event-query.ts';
import type { TelemetryRouteDeps } from './telemetry-deps.ts';

export type EventRequest = EventFilter & {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

/** Sends the answer; refusals too. */
export async function answerEvents(
  deps: Pick<TelemetryRouteDeps, 'events' | 'cursors' | 'now' | 'searches'>,
  asked: EventRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { limit, cursor, ...filter } = asked;
  const resolved = questionOf({ filter, cursor, cursors: deps.cursors, nowMs: deps.now() });
  if (!resolved.ok) {
    sendRefusal(reply, resolved);
    return;
  }
  const { question } = resolved;
  const search = (query: EventQuery) =>
    askEvents(deps.searches, request, (signal) => deps.events.search({ ...query, signal }));
  reply.header('vary', 'accept');
  const format = exportFormatOf(request.headers.accept);
  if (format !== null) {
    const firstPage = await search({ ...question, limit: OPERATOR_EXPORT_PAGE_ROWS });
    const signal = currentScope()?.signal;
    const chunks = exportChunks({
      search,
      question,
      firstPage,
      format,
      rowsMax: limit,
      signal,
    });
    const stamp = timeText(deps.now()).replaceAll(/[:.]/g, '-');
    reply.header('content-type', EXPORT_TYPES[format]);
    reply.header('content-disposition', `attachment; filename="events-${stamp}.${format}"`);
    // One page ahead at most: the stream asks for the next when the reader took the last.
    reply.send(Readable.from(chunks, { highWaterMark: 1, objectMode: true }));
    return;
  }
  const pageLimit = limit ?? PAGE_ITEMS_DEFAULT;
  const found = await search({ ...question, limit: pageLimit + 1 });
  const items = found.slice(0, pageLimit);
  const last = items.at(-1);
  const next =
    found.length > pageLimit && last !== undefined
      ? cursorAfter(deps.cursors, filter, question, last)
      : null;
  reply.send(pageOf(reply, items, next));
}
