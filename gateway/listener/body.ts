// Reads a request body into one buffer. Bytes are counted as they come, since uWebSockets.js has no limit of its own;
// chunks are copied, since it takes them back; a body that dawdles is given up. invariant: I10
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
    const settle = (result: BodyResult): void => {
      if (isSettled) return;
      isSettled = true;
      stopTimer();
      chunks.length = 0;
      resolve(result);
    };
    const stopTimer = options.startTimer(
      () =>
        settle({ ok: false, code: 'malformed_body', detail: 'the body did not arrive in time' }),
      options.timeoutMs,
    );
    exchange.onAborted(() => settle({ ok: false, code: 'aborted', detail: 'the peer is gone' }));
    if (contentLength !== undefined && contentLength > options.maxBytes) settle(tooLarge);
    exchange.res.onData((chunk, isLast) => {
      if (isSettled) return;
      bytes += chunk.byteLength;
      if (bytes > options.maxBytes) return settle(tooLarge);
      chunks.push(Buffer.from(new Uint8Array(chunk)));
      if (!isLast) return;
      exchange.isBodyRead = true;
      const [only] = chunks;
      settle({ ok: true, body: chunks.length === 1 && only ? only : Buffer.concat(chunks) });
    });
  });
}
