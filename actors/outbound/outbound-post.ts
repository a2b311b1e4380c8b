// One POST to a receiver of an operator's choice, through the guard: https alone, judged addresses, no redirect, bounded in
// time and size. What is allowed beyond public addresses is the admins' list. decision: D40, D104
import type { Agent } from 'node:https';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  DELIVERY_ANSWER_MAX_BYTES,
  DELIVERY_EXCERPT_MAX_CHARS,
  WEBHOOK_TIMEOUT_MS,
} from '../../machines/limits.ts';
import { policyOfList } from './address-rules.ts';
import { hostOf, type OutboundProxy } from './guarded-connect.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import { createKeptConnections } from './kept-connections.ts';

export type OutboundRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The only CA that is trusted; null: the public ones. */
  readonly caPem: string | null;
  readonly allowList: readonly string[];
  /** The proxy that stands between; null: none. */
  readonly proxyUrl: string | null;
  readonly signal: AbortSignal;
  /** Sent as gzip. */
  readonly isCompressed?: boolean;
  /** Sent at most once: a connection that was kept may be closed, which would make it uncertain and sent again. */
  readonly isOnce?: boolean;
  /** WEBHOOK_TIMEOUT_MS when absent. */
  readonly timeoutMs?: number;
};
export type OutboundAnswer = {
  readonly status: number;
  readonly retryAfter: string | null;
  /** The beginning of what it said. */
  readonly excerpt: string;
};

const compress = promisify(gzip);

/** Rejects with DestinationUnreachable. */
export type OutboundPost = (request: OutboundRequest) => Promise<OutboundAnswer>;

/** Makes the one that reaches the network; it keeps connections for a moment. */
export function createOutboundPost(): OutboundPost {
  const connections = createKeptConnections();
  return (request) =>
    post(request, request.isOnce === true ? undefined : connections(request.allowList));
}

async function post(request: OutboundRequest, agent: Agent | undefined): Promise<OutboundAnswer> {
  const { url, headers, body, caPem, allowList, proxyUrl, signal } = request;
  const { isCompressed = false, timeoutMs = WEBHOOK_TIMEOUT_MS } = request;
  const host = hostOf(new URL(url));
  const ask = createGuardedFetch({
    ...policyOfList(allowList, host),
    ...{ caPem, timeoutMs, answerMaxBytes: DELIVERY_ANSWER_MAX_BYTES },
    ...{ takesFailures: true, agent },
    proxy: proxyOf(proxyUrl, allowList),
  });
  const response = await ask(url, {
    ...{ method: 'POST', signal },
    headers: isCompressed ? { ...headers, 'content-encoding': 'gzip' } : headers,
    body: isCompressed ? await compress(body) : body,
  });
  const text = await response.text();
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    excerpt: text.slice(0, DELIVERY_EXCERPT_MAX_CHARS).toWellFormed(),
  };
}

/** A proxy as the guard wants it: its address is judged by the same list. */
export function proxyOf(url: string | null, allowList: readonly string[]): OutboundProxy | null {
  return url === null ? null : { url, policy: policyOfList(allowList, hostOf(new URL(url))) };
}
