// Opaque list positions, signed so that a client can neither forge nor edit one, and bound to the list and the filter
// they were made for.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type Refusal, refuse } from '../../../machines/errors.ts';

const TAG_BYTES = 16;
const CURSOR_CHARS_MAX = 2_048;

export type CursorPosition = Readonly<Record<string, string | number | null>>;

export type CursorSigner = {
  seal(list: string, filter: unknown, position: CursorPosition): string;
  open(
    list: string,
    filter: unknown,
    cursor: string,
  ): { readonly ok: true; readonly position: CursorPosition } | Refusal;
};

/** Makes a signer; the key lives as long as the data directory, so a page link survives a restart. */
export function createCursorSigner(key: Buffer): CursorSigner {
  if (key.length < 32) throw new Error('a cursor key needs 32 bytes');

  function tag(list: string, filter: unknown, body: string): Buffer {
    const digest = createHash('sha256').update(canonicalOf(filter)).digest('hex');
    const mac = createHmac('sha256', key).update(`${list}\n${digest}\n${body}`).digest();
    return mac.subarray(0, TAG_BYTES);
  }

  return {
    seal(list, filter, position) {
      const body = Buffer.from(JSON.stringify(position)).toString('base64url');
      return `${body}.${tag(list, filter, body).toString('base64url')}`;
    },
    open(list, filter, cursor) {
      const [body = '', mac = '', ...rest] = cursor.slice(0, CURSOR_CHARS_MAX + 1).split('.');
      const given = Buffer.from(mac, 'base64url');
      const isGood =
        cursor.length <= CURSOR_CHARS_MAX &&
        rest.length === 0 &&
        given.length === TAG_BYTES &&
        mac === given.toString('base64url') &&
        timingSafeEqual(given, tag(list, filter, body));
      if (!isGood) return badCursor();
      return { ok: true, position: JSON.parse(Buffer.from(body, 'base64url').toString()) };
    },
  };
}

function badCursor(): Refusal {
  return refuse('malformed_request', 'The cursor does not belong to this list and filter.', {
    errors: [{ pointer: '/query/cursor', detail: 'not a cursor of this list and filter' }],
  });
}

function canonicalOf(filter: unknown): string {
  if (typeof filter !== 'object' || filter === null) return JSON.stringify(filter) ?? 'null';
  const entries = Object.entries(filter).filter(([, value]) => value !== undefined);
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
