// Where a digest goes and what it may be: every mistake of one, with the field that it is in. Mail goes by SMTP inside TLS,
// from the first byte or before anything is said; there is no third way. decision: D166
import { isTimeZone } from '../delivery/quiet-hours.rules.ts';
import { type DigestTime, isTimeOfDay } from './digest-due.rules.ts';
import { DIGEST_HOST_MAX_CHARS, DIGEST_RECIPIENTS_MAX } from './limits.ts';

export type MailWay = {
  readonly kind: 'mail';
  readonly host: string;
  readonly port: number;
  /** `tls` from the first byte, or `starttls` before anything is said. */
  readonly security: 'tls' | 'starttls';
  /** Null: the server asks for nobody. */
  readonly username: string | null;
  readonly sender: string;
  readonly recipients: readonly string[];
};
export type WebhookWay = { readonly kind: 'webhook'; readonly targetUrl: string };
export type DigestWay = MailWay | WebhookWay;
export type DigestPlan = DigestTime & {
  readonly name: string;
  /** Null: the whole fleet. */
  readonly groupId: string | null;
  readonly isOn: boolean;
  readonly way: DigestWay;
  /** PEM of the only CA that is trusted; null: the public ones. */
  readonly caPem: string | null;
  /** An HTTP proxy that stands between, by CONNECT; null: none. */
  readonly proxyUrl: string | null;
};
export type DigestMistake = { readonly pointer: string; readonly detail: string };

const HOST = /^(?:[A-Za-z0-9][A-Za-z0-9.-]*|[0-9A-Fa-f:]+:[0-9A-Fa-f:.]*)$/;
const MAILBOX =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,188}[A-Za-z0-9])?$/;
/** Printable, and nothing that ends a line of the protocol. */
const WORD = /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u;

/** What is wrong with a digest, apart from where its address leads. */
export function mistakesOfDigest(plan: DigestPlan): readonly DigestMistake[] {
  const found: DigestMistake[] = [];
  const rule = (pointer: string, holds: boolean, detail: string): void => {
    if (!holds) found.push({ pointer, detail });
  };
  rule('/name', WORD.test(plan.name), 'is one line of text');
  rule('/time_zone', isTimeZone(plan.timeZone), 'is no time zone');
  rule('/at', isTimeOfDay(plan.at), 'is HH:MM, 00:00 to 23:59');
  const { way } = plan;
  if (way.kind === 'webhook') {
    const detail = 'is https:// with a host, without name, password and fragment';
    rule('/webhook/target_url', isHttps(way.targetUrl), detail);
    return found;
  }
  const { host, port, username, recipients } = way;
  rule('/mail/host', host.length <= DIGEST_HOST_MAX_CHARS && HOST.test(host), 'is no host');
  rule('/mail/port', Number.isInteger(port) && port >= 1 && port <= 65_535, 'is no port');
  rule('/mail/username', username === null || WORD.test(username), 'is one line of text');
  rule('/mail/sender', MAILBOX.test(way.sender), 'is no mail address');
  const many = `names 1 to ${DIGEST_RECIPIENTS_MAX}`;
  rule(
    '/mail/recipients',
    recipients.length > 0 && recipients.length <= DIGEST_RECIPIENTS_MAX,
    many,
  );
  for (const [at, one] of recipients.entries()) {
    rule(`/mail/recipients/${at}`, MAILBOX.test(one), 'is no mail address');
  }
  return found;
}

/** What a secret is bound to: whoever moves a digest elsewhere gives its secret again. */
export function secretPlaceOf(way: DigestWay): string {
  if (way.kind === 'webhook') return `webhook ${way.targetUrl}`;
  return `mail ${way.host} ${way.port} ${way.username ?? ''}`;
}

function isHttps(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return protocol === 'https:' && username === '' && password === '' && hash === '';
}
