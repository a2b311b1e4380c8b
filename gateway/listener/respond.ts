// Writes an answer: corked (one TLS record, one system call), never after the peer is gone, never twice. An answer given
// before the body was read to its end closes the connection, so that leftover bytes are never read as a request. Such an
// answer waits for the parser to finish the bytes it holds: uWebSockets.js ends a connection on which a next request
// comes before the answer, but goes on parsing after an answer that was to close it.
import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { encodeProblem, type Problem } from '../problem.ts';
import type { Exchange } from './exchange.ts';

/** What every answer carries. Data is no page: whoever is led to open it as one can do nothing with it. decision: D69 */
export const SECURITY_HEADERS = [
  ['strict-transport-security', 'max-age=31536000; includeSubDomains'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['x-frame-options', 'DENY'],
  ['cross-origin-resource-policy', 'same-origin'],
] as const;
/** All of them as one header: uWebSockets.js writes a value as it is, and every call into it costs. */
const [[FIRST_NAME, FIRST_VALUE], ...OTHERS] = SECURITY_HEADERS;
const SECURITY_BLOCK = [FIRST_VALUE, ...OTHERS.map(([name, value]) => `${name}: ${value}`)].join(
  '\r\n',
);
/** uWebSockets.js writes these itself. */
const OWN_HEADERS = new Set(['content-length', 'transfer-encoding', 'connection', 'date']);

const JSON_HEADERS = { 'content-type': 'application/json' } as const;

/** A list is a header that stands several times, as cookies must. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;
export type Answer = {
  readonly status: number;
  readonly headers?: Headers;
  readonly body?: string | Uint8Array;
};

/** Sends the one answer of an exchange; false when the peer is gone or the answer was given already. */
export function respond(
  exchange: Exchange,
  answer: Answer,
  options: { readonly close?: boolean } = {},
): boolean {
  if (exchange.state !== 'open') return false;
  if (options.close !== true && exchange.isBodyRead) {
    write(exchange, answer, false);
    return true;
  }
  exchange.state = 'closing';
  exchange.afterParsing(() => {
    if (exchange.state === 'closing') write(exchange, answer, true);
  });
  return true;
}

function write(exchange: Exchange, answer: Answer, close: boolean): void {
  exchange.state = 'answered';
  const { res, request } = exchange;
  const body = answer.body ?? '';
  res.cork(() => {
    res.writeStatus(`${answer.status} ${STATUS_CODES[answer.status] ?? 'Unknown'}`);
    writeSecurityHeaders(res, answer.headers);
    for (const name in answer.headers)
      if (!OWN_HEADERS.has(name)) writeHeader(res, name, answer.headers[name] ?? '');
    res.writeHeader('x-request-id', request.requestId);
    if (request.method === 'HEAD') res.endWithoutBody(Buffer.byteLength(body), close);
    else if (answer.status === 204) res.endWithoutBody(undefined, close);
    else res.end(body, close);
  });
}

/** Writes a header, once for each of its values. */
export function writeHeader(res: HttpResponse, name: string, value: Headers[string]): void {
  if (typeof value === 'string') res.writeHeader(name, value);
  else for (const one of value) res.writeHeader(name, one);
}

// A route may replace one of them.
function writeSecurityHeaders(res: HttpResponse, own: Answer['headers']): void {
  if (own === JSON_HEADERS || own === undefined) {
    res.writeHeader(FIRST_NAME, SECURITY_BLOCK);
    return;
  }
  for (const [name, value] of SECURITY_HEADERS)
    if (own[name] === undefined) res.writeHeader(name, value);
}

/** Sends JSON. */
export function respondJson(exchange: Exchange, status: number, value: unknown): boolean {
  return respond(exchange, { status, headers: JSON_HEADERS, body: JSON.stringify(value) });
}

/** Sends a refusal as problem+json. */
export function respondProblem(
  exchange: Exchange,
  problem: Problem,
  options: { readonly close?: boolean } = {},
): boolean {
  return respond(exchange, encodeProblem(problem), options);
}
