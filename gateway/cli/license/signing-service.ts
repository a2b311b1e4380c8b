// The license signing service: one route, for a caller that knows the shared secret. It is a process of its own, so that
// the portal that sells licenses never holds the key. Every refusal closes the connection, since nothing is left to say.
// decision: D34
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { signLicense } from '../../../actors/license/envelope-signature.ts';
import type { Logger } from '../../../actors/runtime/logger.ts';
import { type Refusal, refuse } from '../../../machines/errors.ts';
import {
  BODY_READ_TIMEOUT_MS,
  LICENSE_BODY_MAX_BYTES,
  LICENSE_SERVICE_CONNECTIONS_MAX,
} from '../../../machines/limits.ts';
import { payloadOfDraft } from '../../../machines/trust/license.rules.ts';
import { LicenseDraft, type LicenseEnvelope } from '../../../machines/wire/license.ts';
import { parserOf } from '../../../machines/wire/parse.ts';
import { encodeProblem } from '../../problem.ts';

export const SIGN_PATH = '/internal/v1/sign-license';
const readDraft = parserOf(LicenseDraft);

export type SigningService = {
  readonly port: number;
  close(): Promise<void>;
};
export type SigningServiceOptions = {
  readonly secretKey: Uint8Array;
  /** What callers send as a bearer token. */
  readonly sharedSecret: string;
  readonly host: string;
  readonly port: number;
  /** Absent: plain HTTP, for loopback only. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly now: () => number;
  readonly logger: Logger;
};

/** Starts the service; rejects when the port cannot be bound. */
export async function startSigningService(options: SigningServiceOptions): Promise<SigningService> {
  const handle = (request: IncomingMessage, response: ServerResponse) =>
    void answer(options, request, response);
  const limits = { requestTimeout: BODY_READ_TIMEOUT_MS, headersTimeout: BODY_READ_TIMEOUT_MS };
  const server: Server =
    options.tls === undefined
      ? createHttpServer(limits, handle)
      : createHttpsServer({ ...limits, ...options.tls }, handle);
  server.maxConnections = LICENSE_SERVICE_CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

async function answer(
  options: SigningServiceOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = randomUUID();
  const from = request.socket.remoteAddress ?? '';
  request.on('error', () => undefined);
  const signed = await sign(options, request).catch((error: unknown): Refusal => {
    options.logger.error({ requestId, error: String(error) }, 'signing failed');
    return refuse('internal', 'The service failed.');
  });
  if (response.destroyed) return;
  if (signed.ok) {
    const { license_id: licenseId, customer_id: customerId } = signed.envelope.payload;
    options.logger.info({ requestId, from, licenseId, customerId }, 'a license was signed');
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(signed.envelope));
    return;
  }
  options.logger.warn({ requestId, from, code: signed.code }, 'a signing was refused');
  const { code, detail, errors } = signed;
  const problem = encodeProblem({ code, requestId, detail, errors });
  const more: Record<string, string> = { connection: 'close', 'cache-control': 'no-store' };
  if (problem.status === 401) more['www-authenticate'] = 'Bearer realm="sign-license"';
  if (problem.status === 405) more['allow'] = 'POST';
  response.writeHead(problem.status, { ...problem.headers, ...more });
  response.end(problem.body);
}

async function sign(
  options: SigningServiceOptions,
  request: IncomingMessage,
): Promise<{ readonly ok: true; readonly envelope: LicenseEnvelope } | Refusal> {
  const refused = refusalOfHead(request, options.sharedSecret);
  if (refused !== null) return refused;
  const text = await readText(request);
  if (text === null) {
    return refuse('body_too_large', `The body may hold at most ${LICENSE_BODY_MAX_BYTES} bytes.`);
  }
  const draft = readDraft(text);
  if (!draft.ok) return draft;
  return signLicense(payloadOfDraft(draft.value, options.now()), options.secretKey);
}

function refusalOfHead(request: IncomingMessage, sharedSecret: string): Refusal | null {
  const [path] = (request.url ?? '').split('?', 1);
  if (path !== SIGN_PATH) return refuse('not_found', 'Nothing is here.');
  if (request.method !== 'POST') return refuse('method_not_allowed', 'Only POST is allowed here.');
  const [, presented] = /^Bearer ([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (presented === undefined) {
    return refuse('credential_required', 'This address needs the shared secret as a bearer token.');
  }
  if (!isEqual(presented, sharedSecret)) {
    return refuse('credential_invalid', 'The shared secret is not the right one.');
  }
  if (!/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? '')) {
    return refuse('unsupported_encoding', 'Send JSON.');
  }
  return null;
}

/** Constant time in what is presented: digests of one length are compared whole. */
function isEqual(presented: string, expected: string): boolean {
  const digestOf = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digestOf(presented), digestOf(expected));
}

/** The body; null when it is too large. */
async function readText(request: IncomingMessage): Promise<string | null> {
  if (Number(request.headers['content-length'] ?? 0) > LICENSE_BODY_MAX_BYTES) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > LICENSE_BODY_MAX_BYTES) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
