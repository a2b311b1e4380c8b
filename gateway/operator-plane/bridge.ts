// The way from the one TLS listener into the operator application: the body is read to its cap first, the request is
// injected with its true address and id beside it, and the answer is streamed back at the reader's pace. A client that
// leaves aborts the work. Nothing here looks at client certificates. decision: D16; invariant: I9, I10

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Readable } from 'node:stream';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import type { Logger } from '../../actors/runtime/logger.ts';
import { refuse } from '../../machines/errors.ts';
import { BODY_READ_TIMEOUT_MS, OPERATOR_BODY_MAX_BYTES } from '../../machines/limits.ts';
import type { ProblemEncoder } from './problem-reply.ts';
import { runInScope } from './request-scope.ts';

export type BridgeRequest = {
  readonly requestId: string;
  readonly remoteAddress: string;
};

export type Bridge = (res: HttpResponse, req: HttpRequest, known: BridgeRequest) => void;

// The listener and the injected request set these themselves.
const OWN_REQUEST_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'transfer-encoding',
  'content-length',
  'expect',
  'upgrade',
  'x-request-id',
]);
const OWN_ANSWER_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

type Incoming = {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string | string[]>;
  readonly known: BridgeRequest;
};

/** Makes the handler for every path that belongs to the operator plane. */
export function createBridge(options: {
  readonly app: FastifyInstance;
  readonly encodeProblem: ProblemEncoder;
  readonly logger: Logger;
  readonly bodyMaxBytes?: number;
}): Bridge {
  const { app, bodyMaxBytes = OPERATOR_BODY_MAX_BYTES } = options;

  function refuseNow(res: HttpResponse, known: BridgeRequest, detail: 'size' | 'time'): void {
    const refusal =
      detail === 'size'
        ? refuse('body_too_large', `The body is over ${bodyMaxBytes} bytes.`)
        : refuse('malformed_body', 'The body did not arrive in time.');
    const problem = options.encodeProblem(refusal, known.requestId);
    res.cork(() => {
      writeHead(res, problem.status, { ...problem.headers, 'x-request-id': known.requestId });
      res.end(problem.body, true);
    });
  }

  async function serve(
    res: HttpResponse,
    incoming: Incoming,
    body: Buffer,
    gone: AbortController,
  ): Promise<void> {
    const { known } = incoming;
    const scope = { ...known, signal: gone.signal };
    const answer = await runInScope(scope, () =>
      app.inject({
        method: incoming.method as 'GET',
        url: incoming.url,
        headers: incoming.headers,
        remoteAddress: known.remoteAddress,
        payloadAsStream: true,
        signal: gone.signal,
        ...(body.length === 0 ? {} : { payload: body }),
      }),
    );
    if (gone.signal.aborted) return;
    await answerWith(res, incoming.method, answer, gone);
  }

  return (res, req, known) => {
    const gone = new AbortController();
    res.onAborted(() => gone.abort());
    const incoming = readHead(req, known);
    readBody(res, bodyMaxBytes, gone.signal, (outcome) => {
      if (gone.signal.aborted) return;
      if (typeof outcome === 'string') return refuseNow(res, known, outcome);
      serve(res, incoming, outcome, gone).catch((error: unknown) => {
        if (gone.signal.aborted) return;
        options.logger.error(
          { request_id: known.requestId, error: String(error) },
          'bridge failed',
        );
        gone.abort();
        res.close();
      });
    });
  };
}

// `req` is gone after this turn, so everything of it is copied here.
function readHead(req: HttpRequest, known: BridgeRequest): Incoming {
  const headers: Record<string, string | string[]> = {};
  req.forEach((name, value) => {
    if (OWN_REQUEST_HEADERS.has(name)) return;
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  });
  const query = req.getQuery();
  return {
    method: req.getCaseSensitiveMethod(),
    url: query === '' ? req.getUrl() : `${req.getUrl()}?${query}`,
    headers,
    known,
  };
}

function readBody(
  res: HttpResponse,
  maxBytes: number,
  gone: AbortSignal,
  done: (outcome: Buffer | 'size' | 'time') => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isDone = false;
  const timer = setTimeout(() => finish('time'), BODY_READ_TIMEOUT_MS);
  gone.addEventListener('abort', () => clearTimeout(timer), { once: true });

  function finish(outcome: Buffer | 'size' | 'time'): void {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    done(outcome);
  }

  res.onData((chunk, isLast) => {
    if (isDone) return;
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return finish('size');
    // The chunk is neutered when this returns.
    if (chunk.byteLength > 0) chunks.push(Buffer.from(new Uint8Array(chunk)));
    if (isLast) finish(Buffer.concat(chunks));
  });
}

async function answerWith(
  res: HttpResponse,
  method: string,
  answer: LightMyRequestResponse,
  gone: AbortController,
): Promise<void> {
  const stream = answer.stream();
  gone.signal.addEventListener('abort', () => stream.destroy(), { once: true });
  const length = Number(answer.headers['content-length'] ?? Number.NaN);
  if (method === 'HEAD') {
    stream.destroy();
    res.cork(() => {
      writeHead(res, answer.statusCode, answer.headers);
      res.endWithoutBody(Number.isNaN(length) ? 0 : length);
    });
    return;
  }
  if (!Number.isNaN(length)) {
    const body = await wholeOf(stream);
    if (gone.signal.aborted) return;
    res.cork(() => {
      writeHead(res, answer.statusCode, answer.headers);
      res.end(body);
    });
    return;
  }
  await streamTo(res, stream, answer, gone);
}

async function wholeOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Writes chunk by chunk; while the socket is full the producer waits. A producer that fails closes the connection. */
async function streamTo(
  res: HttpResponse,
  stream: Readable,
  answer: LightMyRequestResponse,
  gone: AbortController,
): Promise<void> {
  let isHeadWritten = false;
  for await (const chunk of stream) {
    if (gone.signal.aborted) return;
    let isTaken = true;
    res.cork(() => {
      if (!isHeadWritten) writeHead(res, answer.statusCode, answer.headers);
      isHeadWritten = true;
      isTaken = res.write(chunk);
    });
    if (!isTaken) await writable(res, gone.signal);
  }
  if (gone.signal.aborted) return;
  res.cork(() => {
    if (!isHeadWritten) writeHead(res, answer.statusCode, answer.headers);
    res.end();
  });
}

function writable(res: HttpResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    gone.addEventListener('abort', () => resolve(), { once: true });
    res.onWritable(() => {
      resolve();
      return true;
    });
  });
}

function writeHead(
  res: HttpResponse,
  status: number,
  headers: Readonly<Record<string, unknown>>,
): void {
  res.writeStatus(String(status));
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || OWN_ANSWER_HEADERS.has(name)) continue;
    for (const one of [value].flat()) res.writeHeader(name, String(one));
  }
}
