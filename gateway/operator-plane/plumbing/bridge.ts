// The way from the one TLS listener into the operator application: the body is read to its cap first, the request is
// injected with its true address and id beside it, and the answer is streamed back at the reader's pace. A client that
// leaves aborts the work. A client certificate means nothing here. decision: D16; invariant: I9, I10
import { STATUS_CODES } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import {
  BODY_READ_TIMEOUT_MS,
  OPERATOR_BODY_MAX_BYTES,
  RETRY_AFTER_STORE_MS,
} from '../../../machines/limits.ts';
import { type BodyOptions, readBody } from '../../listener/body.ts';
import type { Exchange, ExchangeHandler } from '../../listener/exchange.ts';
import { type Headers, respond, writeHeader } from '../../listener/respond.ts';
import { runInScope } from './request-scope.ts';

// The injected request and the listener set these themselves.
const OWN_REQUEST_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'transfer-encoding',
  'content-length',
  'expect',
  'upgrade',
]);
const ROUTED_METHODS: ReadonlySet<string> = new Set([
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
]);
const UNROUTED_METHOD = 'TRACE';
const OWN_ANSWER_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-request-id',
]);

export type BridgeOptions = {
  readonly app: FastifyInstance;
  readonly startTimer: BodyOptions['startTimer'];
  readonly bodyMaxBytes?: number;
  /** The application is being closed and takes nothing more, while connections may still be open. */
  readonly isClosing?: () => boolean;
};

/** Makes the handler for every path of the operator plane. */
export function createBridge(options: BridgeOptions): ExchangeHandler {
  const { app, startTimer, bodyMaxBytes = OPERATOR_BODY_MAX_BYTES } = options;
  const { isClosing = () => false } = options;

  return async (exchange) => {
    const gone = new AbortController();
    exchange.onAborted(() => gone.abort());
    const read = await readBody(exchange, {
      maxBytes: bodyMaxBytes,
      timeoutMs: BODY_READ_TIMEOUT_MS,
      startTimer,
    });
    if (!read.ok) {
      if (read.code !== 'aborted') exchange.refuse(read.code, { detail: read.detail });
      return;
    }
    if (isClosing()) {
      exchange.refuse('shutting_down', { retryAfterMs: RETRY_AFTER_STORE_MS });
      return;
    }
    try {
      const answer = await inject(app, exchange, read.body, gone.signal);
      if (!gone.signal.aborted) await send(exchange, answer, gone);
    } catch (error) {
      // After an abort the injected request ends with an error of its own; nobody waits for it.
      if (!gone.signal.aborted) throw error;
    }
  };
}

function inject(
  app: FastifyInstance,
  exchange: Exchange,
  body: Buffer,
  signal: AbortSignal,
): Promise<LightMyRequestResponse> {
  const { requestId, remoteAddress, method, path, query, headers } = exchange.request;
  const passed = [...headers].filter(([name]) => !OWN_REQUEST_HEADERS.has(name));
  // An injection starts when it is awaited, so the await must stand inside the scope.
  return runInScope({ requestId, remoteAddress, signal }, async () => {
    return await app.inject({
      method: injectedMethod(method) as 'GET',
      url: query === '' ? path : `${path}?${query}`,
      headers: Object.fromEntries(passed),
      remoteAddress,
      payloadAsStream: true,
      signal,
      ...(body.length === 0 ? {} : { payload: body }),
    });
  });
}

// The listener leaves the body of a HEAD answer out and says its length. A method that the application cannot know
// (QUERY, anything made up) is asked as one that it knows and routes nowhere: 405 with what the address knows.
function injectedMethod(method: string): string {
  if (method === 'HEAD') return 'GET';
  return ROUTED_METHODS.has(method) ? method : UNROUTED_METHOD;
}

async function send(
  exchange: Exchange,
  answer: LightMyRequestResponse,
  gone: AbortController,
): Promise<void> {
  const stream = answer.stream();
  gone.signal.addEventListener('abort', () => stream.destroy(), { once: true });
  const headers = headersOf(answer);
  const isWhole = answer.headers['content-length'] !== undefined || answer.statusCode === 204;
  if (!isWhole && exchange.request.method !== 'HEAD') {
    await streamTo(exchange, stream, { status: answer.statusCode, headers }, gone);
    return;
  }
  const body = isWhole ? await wholeOf(stream) : Buffer.alloc(0);
  stream.destroy();
  respond(exchange, { status: answer.statusCode, headers, body });
}

async function wholeOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

type Head = { readonly status: number; readonly headers: Headers };

/**
 * Writes chunk by chunk; while the socket is full the producer waits. A producer that fails closes the connection, so
 * that a cut export cannot be taken for a whole one.
 */
async function streamTo(
  exchange: Exchange,
  stream: Readable,
  head: Head,
  gone: AbortController,
): Promise<void> {
  const { res } = exchange;
  if (exchange.state !== 'open') return;
  exchange.state = 'answered';
  res.cork(() => writeHead(exchange, head));
  try {
    for await (const chunk of stream) {
      if (gone.signal.aborted) return;
      let isTaken = true;
      res.cork(() => {
        isTaken = res.write(chunk);
      });
      if (!isTaken) await untilWritable(exchange, gone.signal);
    }
  } catch {
    if (!gone.signal.aborted) res.close();
    return;
  }
  if (!gone.signal.aborted) res.cork(() => res.end());
}

function untilWritable({ res }: Exchange, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      gone.removeEventListener('abort', settle);
      resolve();
    };
    gone.addEventListener('abort', settle);
    res.onWritable(() => {
      settle();
      return true;
    });
  });
}

function writeHead({ res, request }: Exchange, { status, headers }: Head): void {
  res.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`);
  for (const [name, value] of Object.entries(headers)) writeHeader(res, name, value);
  res.writeHeader('x-request-id', request.requestId);
}

// Several cookies cannot be joined into one header; everything else can.
function headersOf(answer: LightMyRequestResponse): Headers {
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && !OWN_ANSWER_HEADERS.has(name)) {
      const values = [value].flat().map(String);
      headers[name] = name === 'set-cookie' ? values : values.join(', ');
    }
  }
  return headers;
}
