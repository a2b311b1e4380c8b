// What every route of the plane asks before its own work: the method, the certificate, the body. The body is read while
// the certificate is judged, because uWebSockets.js drops what nobody listens for. invariant: I3, I9, I10
import { isUtf8 } from 'node:buffer';
import { type Refusal, refuse } from '../../machines/errors.ts';
import type { BudgetState } from '../../storage/ports/access/shared-counter.ts';
import type { IdentityRecord } from '../../storage/ports/fleet/sensor-registry.ts';
import { addressKey, budgetHeaders } from '../access/rate-budget.ts';
import { readBody } from '../listener/body.ts';
import type { Exchange } from '../listener/exchange.ts';
import { respond } from '../listener/respond.ts';
import { decompressBounded } from '../listener/zstd.ts';
import { encodeProblem } from '../problem.ts';
import type { AdmissionDeps } from './deps.ts';

export type Body = { readonly ok: true; readonly text: string };
type BodyRefusal =
  | { readonly ok: false; readonly code: Refusal['code']; readonly detail: string }
  | { readonly ok: false; readonly code: 'aborted'; readonly detail: string };

export const JSON_TYPE = 'application/json';
export const NDJSON_TYPE = 'application/x-ndjson';
const JSON_ONLY = [JSON_TYPE] as const;

/** Answers with a refusal; extra headers are added to the encoder's. */
export function answerRefusal(
  exchange: Exchange,
  refusal: Refusal,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { code, detail, errors, retryAfterMs } = refusal;
  const encoded = encodeProblem({
    code,
    detail,
    requestId: exchange.request.requestId,
    ...(errors === undefined ? {} : { errors }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
  respond(exchange, { ...encoded, headers: { ...encoded.headers, ...headers } });
}

/** Refuses a method that the path does not know. */
export function refuseMethod(exchange: Exchange, allowed: string): void {
  const refusal = refuse('method_not_allowed', `Only ${allowed} is allowed here.`);
  answerRefusal(exchange, refusal, { allow: allowed });
}

/** Takes one request from the address's budget; answers 429 and gives null when it is spent. */
export async function takeBudget(
  deps: Pick<AdmissionDeps, 'budget'>,
  exchange: Exchange,
): Promise<{ readonly key: string; readonly state: BudgetState } | null> {
  const key = addressKey(exchange.request.remoteAddress);
  const state = await deps.budget.consume(key);
  if (state.allowed) return { key, state };
  const refusal = refuse('rate_limited', 'Too many requests without a certificate.', {
    retryAfterMs: state.resetMs,
  });
  answerRefusal(exchange, refusal, budgetHeaders('unauthenticated', state));
  return null;
}

/**
 * Judges the certificate of a request. Answers the refusal and gives null when it is not accepted; requests without a
 * certificate are counted against their address.
 */
export async function admit(
  deps: Pick<AdmissionDeps, 'authenticate' | 'budget'>,
  exchange: Exchange,
): Promise<IdentityRecord | null> {
  const verdict = await deps.authenticate(exchange.request.clientFingerprint);
  return verdict.ok ? verdict.identity : refuseIdentity(deps, exchange, verdict);
}

async function refuseIdentity(
  deps: Pick<AdmissionDeps, 'budget'>,
  exchange: Exchange,
  refusal: Refusal,
): Promise<null> {
  if (refusal.code === 'client_certificate_required') {
    const taken = await takeBudget(deps, exchange);
    if (taken === null) return null;
  }
  answerRefusal(exchange, refusal);
  return null;
}

/** Reads, decompresses and decodes a body. Call it before the first await of the handler. */
export async function readText(
  deps: Pick<AdmissionDeps, 'clock' | 'intervals'>,
  exchange: Exchange,
  options: { readonly maxBytes: number; readonly types?: readonly string[] },
): Promise<Body | BodyRefusal> {
  const { headers } = exchange.request;
  const mistake = mediaMistake(headers, options.types ?? JSON_ONLY);
  if (mistake !== null) return mistake;
  const read = await readBody(exchange, {
    maxBytes: options.maxBytes,
    timeoutMs: deps.intervals.BODY_READ_TIMEOUT_MS,
    startTimer(run, delayMs) {
      const timer = deps.clock.setTimeout(run, delayMs);
      return () => deps.clock.clearTimeout(timer);
    },
  });
  if (!read.ok) return read;
  let { body } = read;
  if (encodingOf(headers) === 'zstd') {
    const plain = await decompressBounded(body, options.maxBytes);
    if (!plain.ok) return plain;
    body = plain.body;
  }
  if (!isUtf8(body)) return refuse('malformed_body', 'The body is not UTF-8 text.');
  return { ok: true, text: body.toString('utf8') };
}

function mediaMistake(
  headers: ReadonlyMap<string, string>,
  types: readonly string[],
): Refusal | null {
  const encoding = encodingOf(headers);
  if (encoding !== 'identity' && encoding !== 'zstd') {
    return refuse('unsupported_encoding', 'Content-Encoding may be zstd or absent.');
  }
  const type = mediaTypeOf(headers);
  if (types.includes(type)) return null;
  return refuse('unsupported_encoding', `Content-Type must be ${types.join(' or ')}.`);
}

/** The encoding in lower case; names of encodings have no case of their own. */
function encodingOf(headers: ReadonlyMap<string, string>): string {
  return (headers.get('content-encoding') ?? 'identity').trim().toLowerCase();
}

/** The media type without parameters, in lower case; '' when absent. */
export function mediaTypeOf(headers: ReadonlyMap<string, string>): string {
  return (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

export type Admitted = { readonly identity: IdentityRecord; readonly text: string };

/**
 * The whole way to the work of a sensor's POST: certificate, body, text. Null when it was answered or the peer is gone.
 */
export async function admitWithBody(
  deps: AdmissionDeps,
  exchange: Exchange,
  options: { readonly maxBytes: number; readonly types?: readonly string[] },
): Promise<Admitted | null> {
  const judged = deps.authenticate(exchange.request.clientFingerprint);
  // Nobody's body is read before somebody is known; the refusal closes the connection.
  if (!(judged instanceof Promise) && !judged.ok) return refuseIdentity(deps, exchange, judged);
  const reading = readText(deps, exchange, options);
  const first = await judged;
  const body = await reading;
  if (!first.ok) return refuseIdentity(deps, exchange, first);
  // A body may take its time; what was revoked meanwhile is not let in by it.
  const verdict = deps.cache.judge(exchange.request.clientFingerprint, deps.now());
  if (!verdict.ok) return refuseIdentity(deps, exchange, verdict);
  if (!body.ok) {
    if (body.code !== 'aborted') answerRefusal(exchange, body);
    return null;
  }
  const { identity } = verdict;
  return { identity, text: body.text };
}
