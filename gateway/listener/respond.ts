// Writes an answer: corked (one TLS record, one system call), never after the peer is gone, never twice. An answer given
// before the body was read to its end closes the connection, so that leftover bytes are never read as a request. Such an
// answer waits for the parser to finish the bytes it holds: uWebSockets.js ends a connection on which a next request
// comes before the answer, but goes on parsing after an answer that was to close it.
import { STATUS_CODES } from 'node:http';
import { encodeProblem, type Problem } from '../problem.ts';
import type { Exchange } from './exchange.ts';

const SECURITY_HEADERS: readonly (readonly [string, string])[] = [
  ['strict-transport-security', 'max-age=31536000'],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['x-frame-options', 'DENY'],
  ['cross-origin-resource-policy', 'same-origin'],
];
/** uWebSockets.js writes these itself. */
const OWN_HEADERS = new Set(['content-length', 'transfer-encoding', 'connection', 'date']);

export type Answer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
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
  setImmediate(() => {
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
    for (const [name, value] of SECURITY_HEADERS)
      if (answer.headers?.[name] === undefined) res.writeHeader(name, value);
    for (const [name, value] of Object.entries(answer.headers ?? {}))
      if (!OWN_HEADERS.has(name)) res.writeHeader(name, value);
    res.writeHeader('x-request-id', request.requestId);
    if (request.method === 'HEAD') res.endWithoutBody(Buffer.byteLength(body), close);
    else if (answer.status === 204) res.endWithoutBody(undefined, close);
    else res.end(body, close);
  });
}

/** Sends JSON. */
export function respondJson(exchange: Exchange, status: number, value: unknown): boolean {
  const headers = { 'content-type': 'application/json' };
  return respond(exchange, { status, headers, body: JSON.stringify(value) });
}

/** Sends a refusal as problem+json. */
export function respondProblem(
  exchange: Exchange,
  problem: Problem,
  options: { readonly close?: boolean } = {},
): boolean {
  return respond(exchange, encodeProblem(problem), options);
}
