// One digest to where it goes: as mail, or as data to a webhook, and what came of it as a value. Nothing is thrown.
// decision: D159, D166; invariant: I11

import { cut, oneLine } from '../../machines/console/delivery/formats/text.ts';
import type {
  DigestWay,
  MailWay,
  WebhookWay,
} from '../../machines/console/digest/destination.rules.ts';
import type { Digest } from '../../machines/console/digest/digest.ts';
import { mailOf } from '../../machines/console/digest/digest-mail.ts';
import { payloadOf } from '../../machines/console/digest/digest-payload.ts';
import { DIGEST_REASON_MAX_CHARS, DIGEST_TIMEOUT_MS } from '../../machines/limits.ts';
import type { DigestRow } from '../../storage/ports/digest/digest-store.ts';
import type { Sealer } from '../../storage/ports/plumbing/sealer.ts';
import { signatureOf } from '../delivery/webhook-secrets.ts';
import type { Handed, OutboundMail } from '../outbound/outbound-mail.ts';
import type { OutboundPost } from '../outbound/outbound-post.ts';
import { DestinationUnreachable } from '../outbound/unreachable.ts';
import { openDigestSecret } from './digest-secrets.ts';

export type DigestSending = {
  readonly row: DigestRow;
  readonly digest: Digest;
  readonly signal: AbortSignal;
};
export type DigestSender = { send(sending: DigestSending): Promise<Handed> };
export type DigestSenderDeps = {
  readonly mail: OutboundMail;
  readonly post: OutboundPost;
  readonly sealer: Sealer;
  readonly allowList: () => readonly string[];
  readonly version: string;
};
type Sending<Way extends DigestWay> = DigestSending & {
  readonly way: Way;
  readonly secret: string | null;
};

/** Errors of the network before anything was said. */
const UNSAID: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'CERT_HAS_EXPIRED'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID'],
]);

/** Makes the sender. */
export function createDigestSender(deps: DigestSenderDeps): DigestSender {
  return {
    async send(sending) {
      const opened = openDigestSecret(sending.row, deps.sealer);
      if (opened === 'lost') {
        const detail = 'Its secret cannot be opened any more; give it again.';
        return { kind: 'failed', isFinal: true, detail };
      }
      const { way } = sending.row;
      const { secret } = opened;
      const handed =
        way.kind === 'mail'
          ? await byMail(deps, { ...sending, way, secret })
          : await byPost(deps, { ...sending, way, secret });
      return bounded(handed);
    },
  };
}

function byMail(deps: DigestSenderDeps, of: Sending<MailWay>): Promise<Handed> {
  const { way, secret, row, digest, signal } = of;
  const { host, port, security, username, sender, recipients } = way;
  const domain = sender.slice(sender.indexOf('@') + 1);
  return deps.mail({
    ...{ host, port, security, sender, recipients, signal, ...mailOf(digest) },
    login: username === null ? null : { username, password: secret ?? '' },
    messageId: `<${deliveryIdOf(digest)}@${domain}>`,
    atMs: digest.madeAtMs,
    ...{ caPem: row.caPem, proxyUrl: row.proxyUrl, allowList: deps.allowList() },
    timeoutMs: DIGEST_TIMEOUT_MS,
  });
}

async function byPost(deps: DigestSenderDeps, of: Sending<WebhookWay>): Promise<Handed> {
  const { way, secret, row, digest, signal } = of;
  const body = Buffer.from(JSON.stringify(payloadOf(digest)), 'utf8');
  try {
    const { status } = await deps.post({
      ...{ url: way.targetUrl, body, signal, isOnce: true, allowList: deps.allowList() },
      headers: {
        'content-type': 'application/json',
        'user-agent': `fleet-runtime-security/${deps.version}`,
        'x-service-delivery': deliveryIdOf(digest),
        ...(secret === null ? {} : { 'x-service-signature': signatureOf(secret, body) }),
      },
      ...{ caPem: row.caPem, proxyUrl: row.proxyUrl, timeoutMs: DIGEST_TIMEOUT_MS },
    });
    if (status >= 200 && status < 300) return { kind: 'taken', note: null };
    const isFinal = status < 500 && status !== 408 && status !== 429;
    return { kind: 'failed', isFinal, detail: `The receiver answered ${status}.` };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return isUnsaid(error)
      ? { kind: 'failed', isFinal: false, detail }
      : { kind: 'unsure', detail };
  }
}

/** The same for the same digest, so that a receiver tells it again from another one. */
function deliveryIdOf({ digestId, day, isTest, madeAtMs }: Digest): string {
  return `digest.${digestId}.${isTest ? `test.${madeAtMs}` : day}`;
}

function isUnsaid(error: unknown): boolean {
  if (!(error instanceof DestinationUnreachable)) return false;
  if (error.reason === 'address_refused') return true;
  const { cause } = error;
  return cause instanceof Error && 'code' in cause && UNSAID.has(cause.code);
}

function bounded(handed: Handed): Handed {
  const short = (text: string) => cut(oneLine(text), DIGEST_REASON_MAX_CHARS);
  if (handed.kind !== 'taken') return { ...handed, detail: short(handed.detail) };
  return { ...handed, note: handed.note === null ? null : short(handed.note) };
}
