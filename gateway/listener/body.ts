// Reads a request body into one buffer. Bytes are counted as they come, since uWebSockets.js has no limit of its own;
// chunks are copied, since it takes them back; a body that dawdles is given up. What is over the limit is dropped as it
// comes and refused at its end: a connection closed on a peer that still sends takes the refusal with it. invariant: I10
import { BODY_DRAIN_MAX_BYTES } from '../../machines/limits.ts';
import type { Exchange } from './exchange.ts';

export type BodyResult =
  | { readonly ok: true; readonly body: Buffer }
  | {
      readonly ok: false;
      /** `aborted`: the peer is gone and no answer is possible. */
      readonly code: 'body_too_large' | 'malformed_body' | 'aborted';
      readonly detail: string;
    };
export type BodyOptions = {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Starts a timer and returns its end; the caller's clock. */
  readonly startTimer: (run: () => void, delayMs: number) => () => void;
};

const LATE: BodyResult = {
  ok: false,
  code: 'malformed_body',
  detail: 'the body did not arrive in time',
};

/** Reads the whole body. Call it before the first await of the handler: data that nobody listens for is lost. */
export function readBody(exchange: Exchange, options: BodyOptions): Promise<BodyResult> {
  const { contentLength, hasBody } = exchange.request;
  if (!hasBody) return Promise.resolve({ ok: true, body: Buffer.alloc(0) });
  const tooLarge: BodyResult = {
    ok: false,
    code: 'body_too_large',
    detail: `the body may hold at most ${options.maxBytes} bytes`,
  };
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isSettled = false;
    let isTooLarge = contentLength !== undefined && contentLength > options.maxBytes;
    const readMax = options.maxBytes + BODY_DRAIN_MAX_BYTES;
    const settle = (result: BodyResult): void => {
      if (isSettled) return;
      isSettled = true;
      stopTimer();
      chunks.length = 0;
      resolve(result);
    };
    const stopTimer = options.startTimer(
      () => settle(isTooLarge ? tooLarge : LATE),
      options.timeoutMs,
    );
    exchange.onAborted(() => settle({ ok: false, code: 'aborted', detail: 'the peer is gone' }));
    if (contentLength !== undefined && contentLength > readMax) settle(tooLarge);
    exchange.res.onData((chunk, isLast) => {
      if (isSettled) return;
      bytes += chunk.byteLength;
      if (bytes > options.maxBytes) isTooLarge = true;
      if (isTooLarge) {
        chunks.length = 0;
        if (isLast || bytes > readMax) settle(tooLarge);
        return;
      }
      chunks.push(Buffer.from(new Uint8Array(chunk)));
      if (!isLast) return;
      exchange.isBodyRead = true;
      const [only] = chunks;
      settle({ ok: true, body: chunks.length === 1 && only ? only : Buffer.concat(chunks) });
    });
  });
}
