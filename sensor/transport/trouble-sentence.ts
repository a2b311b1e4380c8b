// Why the Console was not reached, for a person: one sentence with what to do. What the runtime says of it, which advises
// about the runtime, is left out.
import type { Trouble } from './trouble.ts';

/** The sentence; total. */
export function troubleSentence({ kind, detail }: Trouble, url: URL, nowMs: number): string {
  const { host } = url;
  switch (kind) {
    case 'name_not_found':
      return `${url.hostname} is not known here: check the name in --url, or the DNS of this node`;
    case 'connection_refused':
      return `nothing listens at ${host}: check the address in --url, and that the Console runs`;
    case 'timed_out':
      return `${host} does not answer: check the address in --url, and the firewall between`;
    case 'certificate_expired':
    case 'certificate_refused':
      return `${host} refused the certificate of this node: see service-sensor doctor`;
    case 'console_not_trusted':
      return trustSentence(detail, host, nowMs);
    case 'answer_unreadable':
      return `what answers at ${host} is no Console: check --url`;
    case 'connection_lost':
      return lostSentence(detail, host);
  }
}

function trustSentence(detail: string, host: string, nowMs: number): string {
  const at = new Date(nowMs).toISOString();
  if (/NOT_YET_VALID/.test(detail)) {
    return `the certificate of ${host} is not valid yet at ${at}: set the clock of this node`;
  }
  if (/HAS_EXPIRED/.test(detail)) {
    return `the certificate of ${host} has expired at ${at}: set the clock of this node, or renew the certificate`;
  }
  if (/ALTNAME|HOSTNAME/.test(detail)) {
    return `the certificate of ${host} is for other names: use one of those in --url, or set the base URL of the Console`;
  }
  return `the certificate of ${host} is of a CA that is not known here: give --ca-fingerprint, as \`service-console tokens create\` shows it`;
}

function lostSentence(detail: string, host: string): string {
  if (/ENETUNREACH|EHOSTUNREACH|ENETDOWN|EADDRNOTAVAIL/.test(detail)) {
    return `there is no way to ${host}: check the network of this node`;
  }
  if (/EPROTO|wrong version number|packet length too long/i.test(detail)) {
    return `${host} does not speak TLS: check the port in --url`;
  }
  if (/proxy/.test(detail)) return `${detail}: check HTTPS_PROXY`;
  return `the connection to ${host} was cut: check that a Console listens there`;
}
