// One POST to a receiver of an operator's choice, through the guard: https alone, judged addresses, no redirect, bounded in
// time and size. What is allowed beyond public addresses is the admins' list. decision: D40, D104
import {
  DELIVERY_ANSWER_MAX_BYTES,
  DELIVERY_EXCERPT_MAX_CHARS,
  WEBHOOK_TIMEOUT_MS,
} from '../../machines/limits.ts';
import { policyOfList } from './address-rules.ts';
import { createGuardedFetch } from './guarded-fetch.ts';

export type OutboundRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The only CA that is trusted; null: the public ones. */
  readonly caPem: string | null;
  readonly allowList: readonly string[];
  readonly signal: AbortSignal;
};
export type OutboundAnswer = {
  readonly status: number;
  readonly retryAfter: string | null;
  /** The beginning of what it said. */
  readonly excerpt: string;
};

/** Rejects with DestinationUnreachable. */
export type OutboundPost = (request: OutboundRequest) => Promise<OutboundAnswer>;

/** The one that reaches the network. */
export const outboundPost: OutboundPost = async (request) => {
  const { url, headers, body, caPem, allowList, signal } = request;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  const ask = createGuardedFetch({
    ...policyOfList(allowList, host),
    ...{ caPem, timeoutMs: WEBHOOK_TIMEOUT_MS, answerMaxBytes: DELIVERY_ANSWER_MAX_BYTES },
    takesFailures: true,
  });
  const response = await ask(url, { method: 'POST', headers, body, signal });
  const text = await response.text();
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    excerpt: text.slice(0, DELIVERY_EXCERPT_MAX_CHARS).toWellFormed(),
  };
};
