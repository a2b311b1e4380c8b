// Syslog messages by RFC 5424 over TLS: each is a frame that begins with its length in octets (RFC 5425). What identifies an
// event stands in structured data, the event whole as JSON in the message. Text of others cannot end an element or a frame:
// the length says where a frame ends, and what could end a parameter is escaped.
import type { StoredEvent } from '../../../wire/event.ts';
import { SIEM_SYSLOG_BATCH_MAX_BYTES, SIEM_SYSLOG_MESSAGE_MAX_BYTES } from '../limits.ts';
import { type SiemKind, SOURCE } from './kind.ts';
import { SYSLOG_SEVERITY } from './severity.ts';

/** Local use 0. */
const FACILITY = 16;
/** The number that IANA reserves for examples and documentation; we have none of our own. */
const ENTERPRISE = 32_473;
const BOM = '\u{feff}';
const encoder = new TextEncoder();

export const syslog: SiemKind = {
  rank: 3,
  ...{ transport: 'tls', token: 'none', isPathSecret: false, isCompressed: false },
  batchMaxBytes: SIEM_SYSLOG_BATCH_MAX_BYTES,
  lay(event, { sourceName }) {
    const message = messageOf(event, sourceName ?? SOURCE, JSON.stringify(event));
    if (bytesOf(message) <= SIEM_SYSLOG_MESSAGE_MAX_BYTES) return framed(message);
    // Receivers cut what is too long, which leaves no JSON: without its ancestors it is short enough, and says so.
    const { ancestors: _ancestors, ...rest } = event;
    const short = JSON.stringify({ ...rest, ancestors_left_out: true });
    return framed(messageOf(event, sourceName ?? SOURCE, short));
  },
  body: (entries) => entries.map(({ text }) => text).join(''),
  request: ({ url }) => ({ url, headers: {} }),
};

function messageOf(event: StoredEvent, app: string, text: string): string {
  const priority = FACILITY * 8 + SYSLOG_SEVERITY[event.severity];
  const header = [
    `<${priority}>1`,
    timeOf(event.observed_at),
    field(event.node_name, 255),
    field(app, 48),
    '-',
    field(event.event_kind, 32),
  ].join(' ');
  const ids = [
    ['event_id', event.event_id],
    ['sensor_id', event.sensor_id],
    ['received_at', event.received_at],
  ].map(([name, value]) => `${name}="${parameter(value ?? '')}"`);
  return `${header} [event@${ENTERPRISE} ${ids.join(' ')}] ${BOM}${text}`;
}

// At most six digits of a second.
function timeOf(timestamp: string): string {
  return timestamp.replace(/(\.\d{1,6})\d*Z$/, '$1Z');
}

/** Printable ASCII without spaces; nothing is a dash. */
function field(text: string, maxChars: number): string {
  return text.replaceAll(/[^\x21-\x7e]/gu, '_').slice(0, maxChars) || '-';
}

function parameter(text: string): string {
  return text.toWellFormed().replaceAll(/["\\\]]/g, '\\$&');
}

function framed(message: string): string {
  return `${bytesOf(message)} ${message}`;
}

function bytesOf(text: string): number {
  return encoder.encode(text).length;
}
