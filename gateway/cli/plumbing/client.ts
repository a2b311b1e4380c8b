// The operator API as the commands call it: HTTPS pinned to the context's CA, a deadline, refusals as failures with the
// right exit code.
import { request } from 'node:https';
import { COMMAND_ANSWER_MAX_BYTES } from '../../../machines/limits.ts';
import type { Connection } from './context-file.ts';
import { CommandFailure, EXIT, exitCodeOf } from './exit.ts';

export type Page<T> = { readonly items: readonly T[]; readonly next_cursor: string | null };
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export type Client = {
  readonly connection: Connection;
  get<T>(path: string, query?: Query): Promise<T>;
  send<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T>;
  /** Every item of a list, page by page, at most `max`. */
  all<T>(path: string, query: Query, max: number): AsyncGenerator<T>;
  /** A file, as it is. */
  download(path: string): Promise<Buffer>;
};

const PAGE_MAX = 500;

/** Makes a client; `timeoutMs` bounds each request. `warn` is told what the Console warns of, in its words. */
export function createClient(
  connection: Connection,
  timeoutMs: number,
  warn: (text: string) => void = () => undefined,
): Client {
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await exchange(connection, { method, path, body, timeoutMs });
    const { status, text } = answer;
    for (const warning of answer.warnings) warn(warning);
    const value = parseAnswer(text);
    if (status < 400) return value as T;
    throw refusedBy(status, value);
  }

  const client: Client = {
    connection,
    get: (path, query = {}) => call('GET', withQuery(path, query)),
    send: (method, path, body) => call(method, path, body),
    async download(path) {
      const { status, text, bytes } = await exchange(connection, {
        method: 'GET',
        path,
        timeoutMs,
      });
      if (status < 400) return bytes;
      throw refusedBy(status, parseAnswer(text));
    },
    async *all<T>(path: string, query: Query, max: number) {
      let cursor: string | null = null;
      let left = max;
      while (left > 0) {
        const page: Page<T> = await client.get(path, {
          ...query,
          limit: Math.min(PAGE_MAX, left),
          ...(cursor === null ? {} : { cursor }),
        });
        yield* page.items;
        left -= page.items.length;
        cursor = page.next_cursor;
        if (cursor === null) return;
      }
    },
  };
  return client;
}

export type HttpAnswer = {
  readonly status: number;
  readonly text: string;
  readonly bytes: Buffer;
  /** The Console's clock; null when it did not tell. */
  readonly dateMs: number | null;
  /** What the Console wants a browser to keep. */
  readonly setCookies: readonly string[];
  /** What it warns of beside its answer. */
  readonly warnings: readonly string[];
};

/** One HTTPS exchange; rejects with CommandFailure only. */
export function exchange(
  connection: Connection,
  asked: {
    readonly method: string;
    readonly path: string;
    readonly body?: unknown;
    readonly timeoutMs: number;
    /** In place of the key of the connection. */
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<HttpAnswer> {
  const payload = asked.body === undefined ? null : JSON.stringify(asked.body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${connection.url}${asked.path}`,
      {
        method: asked.method,
        signal: AbortSignal.timeout(asked.timeoutMs),
        agent: false,
        headers: {
          ...(asked.headers ?? { authorization: `Bearer ${connection.token}` }),
          accept: 'application/json',
          ...(payload === null ? {} : { 'content-type': 'application/json' }),
        },
        ...(connection.ca === null ? {} : { ca: connection.ca }),
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        incoming.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > COMMAND_ANSWER_MAX_BYTES)
            outgoing.destroy(new Error('the answer is too big'));
          else chunks.push(chunk);
        });
        incoming.on('error', (error) => reject(unreachable(connection, error)));
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks);
          resolve({
            status: incoming.statusCode ?? 0,
            ...{ bytes, text: bytes.toString() },
            dateMs: Date.parse(incoming.headers.date ?? '') || null,
            setCookies: incoming.headers['set-cookie'] ?? [],
            warnings: warningsIn(incoming.headers['warning'] ?? ''),
          });
        });
      },
    );
    outgoing.on('error', (error) => reject(unreachable(connection, error)));
    outgoing.end(payload ?? undefined);
  });
}

function warningsIn(header: string | readonly string[]): readonly string[] {
  const found = [header]
    .flat()
    .join(', ')
    .matchAll(/299 \S+ "([^"]*)"/g);
  return [...found].map(([, text = '']) => text);
}

function unreachable({ url }: Connection, error: Error): CommandFailure {
  const { code } = error as NodeJS.ErrnoException;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') {
    return new CommandFailure(EXIT.timedOut, `${url} did not answer in time`, 'see --timeout');
  }
  if (code === 'ECONNREFUSED') {
    const next = 'is it running? service-console quickstart';
    return new CommandFailure(EXIT.unreachable, `nothing listens at ${url}`, next);
  }
  if (/CERT|SIGNED|SIGNATURE|ISSUER|ALTNAME|ERR_TLS/.test(code ?? '')) {
    const next = 'is SERVICE_CONSOLE_CA the CA of this Console? see: service-console doctor';
    return new CommandFailure(EXIT.unreachable, `${url} is not trusted (${code})`, next);
  }
  const why = code ?? error.message;
  return new CommandFailure(EXIT.unreachable, `${url} cannot be reached (${why})`);
}

/** The failure that a refused answer is. */
export function refusedBy(status: number, value: unknown): CommandFailure {
  const problem = typeof value === 'object' && value !== null ? value : {};
  const { title, detail, code, request_id, errors } = problem as Record<string, unknown>;
  const places = Array.isArray(errors)
    ? errors.map(({ pointer, detail: what }) => `${pointer} ${what}`).join(', ')
    : '';
  const said = [title ?? `HTTP ${status}`, detail, places].filter((part) => part).join(': ');
  const id = request_id === undefined ? '' : ` [${request_id}]`;
  return new CommandFailure(exitCodeOf(status), `${said}${id}`, nextFor(String(code)), value);
}

function nextFor(code: string): string {
  if (code === 'credential_invalid' || code === 'credential_required') {
    return 'set SERVICE_TOKEN to a valid API key, or: service-console login';
  }
  if (code === 'mfa_code_invalid') return 'take the next code of the app; each works once';
  if (code === 'setup_required') return 'set it up: service-console setup';
  if (code === 'role_required') return 'use an API key with the named scope';
  if (code === 'store_unavailable') return 'see: service-console doctor';
  if (code === 'not_found') return 'see: service-console sensors list';
  return code === 'sensor_is_revoked' ? 'enrol the node anew: service-console tokens create' : '';
}

/** The value of an answer's text: JSON, or the text itself. */
export function parseAnswer(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return text;
  }
}

function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of [value].flat()) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}
