// Copies what a handler needs out of uWebSockets.js' request, which is gone after the first await, and refuses framing
// that two parsers could read differently: uWebSockets.js itself takes the first of two Content-Length headers and
// reads the rest as the next request. A body comes with its length, or not at all: the parser takes an empty chunk size
// for the last one, and whatever stands where a chunk's line end should be, so a chunked body may be a part of what was
// sent. decision: D74

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { REQUEST_HEADERS_MAX, REQUEST_TARGET_MAX_CHARS } from '../../machines/limits.ts';
import type { PeerFingerprints } from './peer-fingerprints.ts';
import { readPeerCertificate } from './unsafe-uws.ts';

const DIGITS = /^\d{1,15}$/;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const CONTROL_CHARACTERS = /[\x00-\x08\x0a-\x1f\x7f]/;
/** A second one of these would let two readers disagree about the body or about who asks. */
const SINGLE_HEADERS = new Set([
  'content-length',
  'transfer-encoding',
  'host',
  'authorization',
  'content-type',
  'content-encoding',
]);

export type RequestFacts = {
  readonly requestId: string;
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly contentLength: number | undefined;
  readonly hasBody: boolean;
  readonly remoteAddress: string;
  /** SHA-256 of the client certificate; null when none was shown. Proves nothing about expiry or revocation. */
  readonly clientFingerprint: string | null;
};
export type ReadRequestResult = {
  readonly facts: RequestFacts;
  /** Why the request must be refused and its connection closed. */
  readonly mistake: string | undefined;
  /** Whether it is refused for nothing but a body without a length. */
  readonly lacksLength: boolean;
};

/** Copies a request; call it before the first await. */
export function readRequest(
  res: HttpResponse,
  req: HttpRequest,
  peers: PeerFingerprints,
): ReadRequestResult {
  const headers = new Map<string, string>();
  let count = 0;
  let mistake: string | undefined;
  req.forEach((name, value) => {
    count += 1;
    if (count > REQUEST_HEADERS_MAX) {
      mistake ??= 'the request has too many headers';
      return;
    }
    const earlier = headers.get(name);
    if (earlier !== undefined && SINGLE_HEADERS.has(name)) mistake ??= `${name} is given twice`;
    if (CONTROL_CHARACTERS.test(value) || name.trim() !== name)
      mistake ??= 'a header holds characters that are not allowed';
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  });
  const length = headers.get('content-length');
  const encoding = headers.get('transfer-encoding');
  if (length !== undefined && encoding !== undefined)
    mistake ??= 'content-length and transfer-encoding exclude each other';
  if (length !== undefined && !DIGITS.test(length)) mistake ??= 'content-length is not a number';
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    mistake ??= 'the transfer encoding is not known';
  const lacksLength = mistake === undefined && encoding !== undefined;
  if (lacksLength) mistake = 'a body without a length may be cut unseen; send Content-Length';
  const [path, query] = [req.getUrl(), req.getQuery() ?? ''];
  if (path.length + query.length > REQUEST_TARGET_MAX_CHARS)
    mistake ??= 'the request target is too long';
  const contentLength = length === undefined ? undefined : Number(length);
  return {
    mistake,
    lacksLength,
    facts: {
      requestId: requestIdOf(headers.get('x-request-id')),
      method: req.getMethod().toUpperCase(),
      path,
      query,
      headers,
      contentLength,
      hasBody: encoding !== undefined || (contentLength ?? 0) > 0,
      remoteAddress: Buffer.from(res.getRemoteAddressAsText()).toString('latin1'),
      clientFingerprint: peers.fingerprintOf(readPeerCertificate(res)),
    },
  };
}

// A caller may name its request, so that its log and ours can be laid side by side.
function requestIdOf(given: string | undefined): string {
  return given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
}
