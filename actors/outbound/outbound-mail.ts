// One mail by SMTP, through the guard: the address that was judged is the one that is connected to, TLS from the first byte
// or before anything is said, the certificate verified. What came of it is a value: taken, surely not taken, or handed over
// without an answer. Nothing is thrown. decision: D159, D166; invariant: I11
import { Readable } from 'node:stream';
import nodemailer from 'nodemailer';
import { policyOfList } from './address-rules.ts';
import { connectGuarded, dialGuarded } from './guarded-connect.ts';
import { proxyOf } from './outbound-post.ts';

export type MailRequest = {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls';
  /** Null: the server asks for nobody. */
  readonly login: { readonly username: string; readonly password: string } | null;
  readonly sender: string;
  readonly recipients: readonly string[];
  /** With its brackets; the same for the same mail. */
  readonly messageId: string;
  readonly atMs: number;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly caPem: string | null;
  readonly proxyUrl: string | null;
  readonly allowList: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};
export type Handed =
  /** `note`: who was left out. */
  | { readonly kind: 'taken'; readonly note: string | null }
  /** `isFinal`: the other side refused it for good. */
  | { readonly kind: 'failed'; readonly isFinal: boolean; readonly detail: string }
  | { readonly kind: 'unsure'; readonly detail: string };

/** Never rejects. */
export type OutboundMail = (request: MailRequest) => Promise<Handed>;

/** The one that reaches the network. */
export const outboundMail: OutboundMail = async (request) => {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(request.timeoutMs)]);
  const state = { isHandedOver: false };
  try {
    const raw = await laidOut(request);
    const body = Readable.from([raw]);
    // Behind this the end of the mail may be on its way.
    body.on('end', () => {
      state.isHandedOver = true;
    });
    const { rejected } = await transportOf(request, await dial(request, signal)).sendMail({
      ...{ envelope: { from: request.sender, to: [...request.recipients] }, raw: body, signal },
    });
    const out = rejected.map(String).join(', ');
    return { kind: 'taken', note: out === '' ? null : `The server refused ${out}.` };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const status = statusOf(error);
    if (status !== null) return { kind: 'failed', isFinal: status >= 500, detail };
    return state.isHandedOver
      ? { kind: 'unsure', detail }
      : { kind: 'failed', isFinal: false, detail };
  }
};

async function laidOut(request: MailRequest): Promise<Buffer> {
  const composer = nodemailer.createTransport({ streamTransport: true, buffer: true });
  const { message } = await composer.sendMail({
    ...{ from: request.sender, to: [...request.recipients], messageId: request.messageId },
    ...{ subject: request.subject, text: request.text, html: request.html },
    date: new Date(request.atMs),
    headers: { 'auto-submitted': 'auto-generated' },
    // Nothing is read for it from anywhere.
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  if (!Buffer.isBuffer(message)) throw new Error('the mail was not laid out');
  return message;
}

function dial(
  { host, port, security, caPem, proxyUrl, allowList }: MailRequest,
  signal: AbortSignal,
) {
  const options = { ...policyOfList(allowList, host), proxy: proxyOf(proxyUrl, allowList), signal };
  return security === 'tls'
    ? connectGuarded({ host, port }, { ...options, caPem })
    : dialGuarded({ host, port }, options);
}

function transportOf(
  { host, port, security, login, sender, caPem, timeoutMs }: MailRequest,
  connection: Awaited<ReturnType<typeof dial>>,
) {
  const isTls = security === 'tls';
  return nodemailer.createTransport({
    ...{ host, port, name: sender.slice(sender.indexOf('@') + 1) },
    ...{ secure: isTls, requireTLS: !isTls, opportunisticTLS: false },
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
    tls: caPem === null ? {} : { ca: caPem },
    // It must know us, or get nothing.
    ...(login === null
      ? {}
      : { auth: { user: login.username, pass: login.password }, forceAuth: true }),
    getSocket: (_options, done) => done(null, { connection, secured: isTls }),
  });
}

/** What the server answered; null: it did not. */
function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('responseCode' in error)) return null;
  const { responseCode } = error;
  return typeof responseCode === 'number' && responseCode >= 400 ? responseCode : null;
}
