// Answers a list as a cursor page: the body's next_cursor and the same position as a Link.
import type { FastifyReply } from 'fastify';

/** The page body, with `Link: rel="next"` set when there is one. */
export function pageOf<T>(reply: FastifyReply, items: readonly T[], nextCursor: string | null) {
  if (nextCursor !== null) {
    const [path = '/', query = ''] = reply.request.url.split('?', 2);
    const parameters = new URLSearchParams(query);
    parameters.set('cursor', nextCursor);
    reply.header('link', `<${path}?${parameters}>; rel="next"`);
  }
  return { items: [...items], next_cursor: nextCursor };
}
