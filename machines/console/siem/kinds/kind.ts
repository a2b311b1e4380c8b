// What a kind of SIEM is: where it takes events, how a batch of them looks there, and how much it takes at once. All pure.
import type { StoredEvent } from '../../../wire/event.ts';

/** What an operator says of a destination, beside its address. */
export type SiemLabels = {
  /** Where the receiver files events, in its own word; null: what is usual there. */
  readonly category: string | null;
  readonly sourceName: string | null;
};
export type SiemTarget = {
  /** Whole, its secret parts in place. */
  readonly url: string;
  readonly token: string | null;
  readonly labels: SiemLabels;
  readonly version: string;
};
/** One event as it stands in a batch. */
export type SiemEntry = { readonly event: StoredEvent; readonly text: string };
export type SiemRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type SiemKind = {
  /** Its place among the kinds that are offered, smallest first. */
  readonly rank: number;
  /** How it is reached: requests over HTTPS, or frames over a TLS connection. */
  readonly transport: 'https' | 'tls';
  readonly token: 'needed' | 'optional' | 'none';
  /** The path and the query of the address are a secret. */
  readonly isPathSecret: boolean;
  readonly isCompressed: boolean;
  readonly batchMaxBytes: number;
  /** One event as text. */
  lay(event: StoredEvent, labels: SiemLabels): string;
  /** A batch of them. */
  body(entries: readonly SiemEntry[]): string;
  /** Where it goes; of no use over TLS alone. */
  request(target: SiemTarget): SiemRequest;
};

export const SOURCE = 'fleet-runtime-security';

/** One JSON object a line. */
export function linesOf(entries: readonly SiemEntry[]): string {
  return entries.map(({ text }) => `${text}\n`).join('');
}

/** The address, with a path where it has none. */
export function withPath(url: string, path: string): string {
  const whole = new URL(url);
  if (whole.pathname === '/') whole.pathname = path;
  return whole.href;
}

/** A text that may stand in a header: printable ASCII, everything else a question mark. */
export function headerText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/gu, '?');
}
