// Requests of the sensor plane. Every answer is a value: what the Console said, why it refused, or why it was not
// reached. Bodies are bounded both ways, and every request carries this process's instance. decision: D10

import type { Agent } from 'node:https';
import { request as httpsRequest } from 'node:https';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { HEARTBEAT_BODY_MAX_BYTES } from '../../machines/limits.ts';
import { parseJson } from '../../machines/wire/parse.ts';
import { INSTANCE_HEADER } from '../../machines/wire/scalars.ts';
import { createTlsAgent, retireAgent, type TlsIdentity } from './agent.ts';
import { type Answer, isObject, retryAfterOf } from './answer.ts';
import { troubleOf } from './trouble.ts';

const compress = promisify(zstdCompress);
const CODE_MAX_CHARS = 64;
const DETAIL_MAX_CHARS = 500;

export type PostOptions = {
  readonly timeoutMs: number;
  readonly isCompressed?: boolean;
  readonly signal?: AbortSignal;
};

export type ConsoleClient = {
  readonly baseUrl: URL;
  readonly instanceId: string;
  readonly proxyUrl: URL | null;
  /** Changes what is presented; sockets of the old identity are closed. */
  useIdentity(identity: TlsIdentity): void;
  identity(): TlsIdentity;
  /** Posts JSON text. Never rejects. */
  post(path: string, jsonText: string, options: PostOptions): Promise<Answer>;
  get(path: string, timeoutMs: number): Promise<Answer & { readonly text?: string }>;
  close(): void;
};

/** With the clock of who answered. */
export type DatedAnswer = Answer & { readonly dateMs?: number };

export type ClientOptions = {
  readonly baseUrl: URL;
  readonly instanceId: string;
  readonly proxyUrl: URL | null;
  readonly identity: TlsIdentity;
  /** Hears of every answer, for facts and for what moves the whole node. */
  readonly onAnswer?: (path: string, answer: DatedAnswer) => void;
};

/** Makes a client; nothing is connected before the first request. */
export function createConsoleClient(options: ClientOptions): ConsoleClient {
  const { baseUrl, instanceId, proxyUrl } = options;
  let identity = options.identity;
  let agent = createTlsAgent(identity, { proxyUrl });

  async function send(
    method: string,
    path: string,
    body: Buffer | null,
    more: PostOptions & { readonly encoding?: string },
  ): Promise<Answer & { text?: string }> {
    const answer = await exchange({
      url: new URL(path, baseUrl),
      method,
      body,
      agent,
      timeoutMs: more.timeoutMs,
      headers: {
        [INSTANCE_HEADER]: instanceId,
        accept: 'application/json',
        ...(body === null
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(body.length) }),
        ...(more.encoding === undefined ? {} : { 'content-encoding': more.encoding }),
      },
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    });
    options.onAnswer?.(path, answer);
    return answer;
  }

  return {
    baseUrl,
    instanceId,
    proxyUrl,
    useIdentity(next) {
      const old = agent;
      identity = next;
      agent = createTlsAgent(next, { proxyUrl });
      // What is under way ends as it began: a request cut off here would be told as an error of the connection.
      retireAgent(old);
    },
    identity: () => identity,
    async post(path, jsonText, more) {
      const plain = Buffer.from(jsonText);
      if (more.isCompressed !== true) return send('POST', path, plain, more);
      return send('POST', path, await compress(plain), { ...more, encoding: 'zstd' });
    },
    get: (path, timeoutMs) => send('GET', path, null, { timeoutMs }),
    close: () => agent.destroy(),
  };
}

type Exchange = {
  readonly url: URL;
  readonly method: string;
  readonly body: Buffer | null;
  readonly agent: Agent;
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
};

/** One request and its bounded answer, with the clock of who answered. Never rejects. */
export function exchange(what: Exchange): Promise<DatedAnswer & { text?: string }> {
  const deadline = AbortSignal.timeout(what.timeoutMs);
  const signal = what.signal === undefined ? deadline : AbortSignal.any([deadline, what.signal]);
  return new Promise((resolve) => {
    const lose = (error: unknown): void => {
      const cause = deadline.aborted ? { message: 'the request timed out' } : error;
      resolve({ ok: false, kind: 'unreachable', trouble: troubleOf(cause) });
    };
    const { url, method, agent, headers } = what;
    const request = httpsRequest(url, { method, agent, headers, signal }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > HEARTBEAT_BODY_MAX_BYTES) request.destroy(new Error('the answer is too large'));
        else chunks.push(chunk);
      });
      response.on('error', lose);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const { 'retry-after': wait, date = '' } = response.headers;
        const answer = answerOf(response.statusCode ?? 0, text, retryAfterOf(wait));
        const dateMs = Date.parse(date);
        resolve(Number.isNaN(dateMs) ? answer : { ...answer, dateMs });
      });
    });
    request.on('error', lose);
    request.end(what.body ?? undefined);
  });
}

/** An answer as a value, from its status and text. Total. */
export function answerOf(
  status: number,
  text: string,
  retryAfterMs: number | null,
): Answer & { text?: string } {
  const parsed = parseJson(text);
  const json = parsed.ok ? parsed.value : null;
  if (status >= 200 && status < 300) return { ok: true, status, json, text };
  const problem = isObject(json) ? json : {};
  return {
    ok: false,
    kind: 'refused',
    status,
    code: textOf(problem['code']).slice(0, CODE_MAX_CHARS) || `http_${status}`,
    detail: (textOf(problem['detail']) || textOf(problem['title'])).slice(0, DETAIL_MAX_CHARS),
    retryAfterMs,
  };
}

/** The code of a problem document; '' when there is none. Never throws. */
export function problemCodeOf(text: string): string {
  const parsed = parseJson(text);
  return parsed.ok && isObject(parsed.value)
    ? textOf(parsed.value['code']).slice(0, CODE_MAX_CHARS)
    : '';
}

// `String` of a foreign object calls its own `toString`, which need not be a function.
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
