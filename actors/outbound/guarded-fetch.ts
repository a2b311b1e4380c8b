// The one way in which the Console asks services of others: TLS with the public CAs or with the destination's own one, at
// judged addresses only, no redirect followed, the answer bounded in size and time. It has the shape of `fetch`, as
// libraries want it, because the platform's own fetch takes no CA. decision: D40
import type { IncomingMessage } from 'node:http';
import { type Agent, request } from 'node:https';
import type { AddressPolicy } from './address-rules.ts';
import {
  connectGuarded,
  hostOf,
  type OutboundProxy,
  refuseLiteral,
  unreachable,
} from './guarded-connect.ts';
import { judgedLookup } from './judged-lookup.ts';
import { AnswerTooBig, DestinationUnreachable } from './unreachable.ts';

const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);
const FAILING_FROM = 500;
const TOO_MANY = 429;

export type GuardedRequest = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
};
export type GuardedFetch = (address: string, request: GuardedRequest) => Promise<Response>;

export type GuardedFetchOptions = AddressPolicy & {
  /** The only CA that is trusted; null: the public ones. */
  readonly caPem: string | null;
  readonly timeoutMs: number;
  /** Answers that say the destination fails are answers, too. */
  readonly takesFailures?: boolean;
  readonly answerMaxBytes: number;
  /** Where connections come from; absent: each request its own. */
  readonly agent?: Agent | undefined;
  /** What stands between; then each request has a connection of its own. */
  readonly proxy?: OutboundProxy | null | undefined;
};

/** Makes the fetch of one destination; it rejects with DestinationUnreachable. */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  return async (address, { method, headers, body, signal }) => {
    const url = new URL(address);
    if (url.protocol !== 'https:')
      throw new DestinationUnreachable(`${url.host} is not asked by https`, 'address_refused');
    refuseLiteral(hostOf(url), options);
    const payload = payloadOf(body);
    const timeout = AbortSignal.timeout(options.timeoutMs);
    const ending = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    const way = await wayTo(url, options, ending);
    const response = await exchange(url, payload, options.answerMaxBytes, {
      method,
      headers: {
        ...headers,
        ...(payload === null ? {} : { 'content-length': String(Buffer.byteLength(payload)) }),
      },
      ...way,
      signal: ending,
      ...(options.caPem === null ? {} : { ca: options.caPem }),
    });
    const isFailing = response.status >= FAILING_FROM || response.status === TOO_MANY;
    if (isFailing && options.takesFailures !== true) {
      throw new DestinationUnreachable(`${url.host} answers ${response.status}`, 'failing');
    }
    return response;
  };
}

/** How a request gets to its destination: through the proxy, or by itself to what was judged. */
export async function wayTo(
  url: URL,
  options: Omit<GuardedFetchOptions, 'answerMaxBytes'>,
  signal: AbortSignal,
) {
  return options.proxy
    ? wayThrough(url, { ...options, signal })
    : { agent: options.agent ?? false, lookup: judgedLookup(options) };
}

// The connection is there before the request, so that nothing is sent to a proxy but where to.
async function wayThrough(url: URL, options: Parameters<typeof connectGuarded>[1]) {
  const port = url.port === '' ? 443 : Number(url.port);
  const socket = await connectGuarded({ host: hostOf(url), port }, options);
  // Any agent, `false` too, would make a connection of its own.
  return { agent: undefined, createConnection: () => socket };
}

function exchange(
  url: URL,
  payload: string | Uint8Array | null,
  answerMaxBytes: number,
  options: Parameters<typeof request>[1],
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(unreachable(url.host, error));
    let isAnswered = false;
    const outgoing = request(url, options, (incoming) => {
      isAnswered = true;
      const chunks: Buffer[] = [];
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > answerMaxBytes) outgoing.destroy(new AnswerTooBig('the answer is too big'));
        else chunks.push(chunk);
      });
      incoming.on('error', fail);
      incoming.on('end', () => {
        try {
          resolve(responseOf(incoming, Buffer.concat(chunks)));
        } catch (error) {
          fail(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
    outgoing.on('error', (error) => {
      // A connection that was kept may be closed by the other side at any time: one of its own tells.
      if (isAnswered || !outgoing.reusedSocket || !wasClosed(error)) fail(error);
      else resolve(exchange(url, payload, answerMaxBytes, { ...options, agent: false }));
    });
    outgoing.end(payload ?? undefined);
  });
}

function wasClosed(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE';
}

function responseOf(incoming: IncomingMessage, body: Buffer): Response {
  const status = incoming.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  return new Response(BODILESS.has(status) ? null : new Uint8Array(body), { status, headers });
}

function payloadOf(body: unknown): string | Uint8Array | null {
  if (body === undefined || body === null) return null;
  if (body instanceof Uint8Array) return body;
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body);
  throw new TypeError('a body is text or bytes');
}
