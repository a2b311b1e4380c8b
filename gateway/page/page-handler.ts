// Answers for the page, before anything else is asked: its files from memory for as long as a browser likes, its document
// anew each time with a nonce of its own. Whoever does not ask for HTML (curl, a program) is left to the routes behind, and
// so is everything that is no page. decision: D54
import { createHash, randomBytes } from 'node:crypto';
import type { Exchange, ExchangeHandler } from '../listener/exchange.ts';
import { type Answer, respond } from '../listener/respond.ts';
import { ASSETS_FOLDER, ENCODINGS, type PageAsset, type PageFiles } from './page-files.ts';
import { isPagePath } from './page-paths.ts';
import { ASSET_POLICY, pagePolicy } from './page-policy.ts';

const NONCE_BYTES = 16;
const ETAG_CHARS = 32;

/** Puts the page before a handler; without a page there is only the handler. */
export function withPage(
  page: PageFiles | null,
  roots: readonly string[],
  next: ExchangeHandler,
): ExchangeHandler {
  if (page === null) return next;
  const etags = new WeakMap<PageAsset, string>();
  return (exchange) => {
    const { method, path, headers, hasBody } = exchange.request;
    if ((method !== 'GET' && method !== 'HEAD') || hasBody) return next(exchange);
    if (path.startsWith(`/${ASSETS_FOLDER}/`)) {
      sendAsset(exchange, page.asset(path), etags);
      return undefined;
    }
    if (!isPagePath(path, roots) || !wantsHtml(headers.get('accept'))) return next(exchange);
    respond(exchange, documentOf(page));
    return undefined;
  };
}

function documentOf(page: PageFiles): Answer {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': pagePolicy(nonce),
      'cross-origin-opener-policy': 'same-origin',
      vary: 'accept',
    },
    body: page.document(nonce),
  };
}

function sendAsset(
  exchange: Exchange,
  asset: PageAsset | undefined,
  etags: WeakMap<PageAsset, string>,
): void {
  if (asset === undefined) {
    // A tab of an older page asks for what is gone; it loads the page anew.
    exchange.refuse('not_found', { detail: 'This file belongs to another version of the page.' });
    return;
  }
  let etag = etags.get(asset);
  if (etag === undefined) {
    const digest = createHash('sha256').update(asset.plain).digest('base64url');
    etag = `"${digest.slice(0, ETAG_CHARS)}"`;
    etags.set(asset, etag);
  }
  const { headers: asked } = exchange.request;
  const headers = {
    'content-type': asset.contentType,
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': ASSET_POLICY,
    vary: 'accept-encoding',
    etag,
  };
  if (asked.get('if-none-match') === etag) {
    respond(exchange, { status: 304, headers });
    return;
  }
  const encoding = encodingFor(asked.get('accept-encoding'), asset);
  if (encoding === null) {
    respond(exchange, { status: 200, headers, body: asset.plain });
    return;
  }
  const body = asset.encoded.get(encoding) ?? asset.plain;
  respond(exchange, { status: 200, headers: { ...headers, 'content-encoding': encoding }, body });
}

/** The best encoding of an asset that a reader takes; null for none. */
export function encodingFor(accepted: string | undefined, asset: PageAsset): string | null {
  const taken = new Set(
    (accepted ?? '')
      .split(',')
      .map((part) => part.trim().toLowerCase())
      .filter((part) => !/;\s*q=0(\.0+)?$/.test(part))
      .map((part) => part.split(';', 1)[0] ?? ''),
  );
  for (const [encoding] of ENCODINGS) {
    if (taken.has(encoding) && asset.encoded.has(encoding)) return encoding;
  }
  return null;
}

/** Whether HTML is asked for by name; a program that takes anything gets what programs get. */
export function wantsHtml(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((part) => {
    const [type = '', ...rest] = part.split(';').map((one) => one.trim().toLowerCase());
    return type === 'text/html' && !rest.some((one) => /^q=0(\.0+)?$/.test(one));
  });
}
