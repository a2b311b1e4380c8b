// OpenTelemetry's protocol for logs over HTTP, in its JSON encoding: log records by the node that they are of. 64-bit numbers
// are texts there, and names are in camel case.
import type { StoredEvent } from '../../../wire/event.ts';
import { SIEM_OTLP_BATCH_MAX_BYTES } from '../limits.ts';
import { type SiemEntry, type SiemKind, SOURCE, withPath } from './kind.ts';
import { OTLP_SEVERITY } from './severity.ts';

type Attribute = { readonly key: string; readonly value: object };

export const otlp: SiemKind = {
  rank: 4,
  ...{ transport: 'https', token: 'optional', isPathSecret: false, isCompressed: true },
  batchMaxBytes: SIEM_OTLP_BATCH_MAX_BYTES,
  lay(event) {
    const [severityNumber, severityText] = OTLP_SEVERITY[event.severity];
    return JSON.stringify({
      timeUnixNano: nanosOf(event.observed_at),
      observedTimeUnixNano: nanosOf(event.received_at),
      severityNumber,
      severityText,
      eventName: event.event_kind,
      body: { stringValue: event.message },
      attributes: attributesOf(event),
    });
  },
  body: (entries) => `{"resourceLogs":[${byNode(entries).map(resource).join(',')}]}`,
  request: ({ url, token }) => ({
    url: withPath(url, '/v1/logs'),
    headers: {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: token }),
    },
  }),
};

/** How many records a receiver that took the others refused; 0 when it says nothing of that. */
export function refusedByOtlp(answer: string): number {
  try {
    const { partialSuccess } = JSON.parse(answer) as {
      partialSuccess?: { rejectedLogRecords?: number | string };
    };
    const count = Number(partialSuccess?.rejectedLogRecords ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}

// Runs of one node; the order of events stays.
function byNode(entries: readonly SiemEntry[]): readonly (readonly SiemEntry[])[] {
  const runs: SiemEntry[][] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    if (last?.[0]?.event.sensor_id === entry.event.sensor_id) last.push(entry);
    else runs.push([entry]);
  }
  return runs;
}

function resource(entries: readonly SiemEntry[]): string {
  const [first] = entries;
  if (first === undefined) return '';
  const { sensor_id, node_name } = first.event;
  const attributes = [
    text('service.name', SOURCE),
    text('service.instance.id', sensor_id),
    text('host.name', node_name),
  ];
  const records = entries.map(({ text: record }) => record).join(',');
  const scope = `{"scope":{"name":"${SOURCE}"},"logRecords":[${records}]}`;
  return `{"resource":{"attributes":${JSON.stringify(attributes)}},"scopeLogs":[${scope}]}`;
}

/** Groups become names with dots; a list stays a list, of JSON texts. */
function attributesOf(event: StoredEvent): readonly Attribute[] {
  const { message: _message, ...rest } = event;
  return Object.entries(rest).flatMap(([name, value]) => attribute(name, value));
}

function attribute(key: string, value: unknown): readonly Attribute[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [text(key, value)];
  if (typeof value === 'boolean') return [{ key, value: { boolValue: value } }];
  if (typeof value === 'number') {
    return Number.isSafeInteger(value)
      ? [{ key, value: { intValue: String(value) } }]
      : [{ key, value: { doubleValue: value } }];
  }
  if (Array.isArray(value)) {
    const values = value.map((one: unknown) => ({ stringValue: JSON.stringify(one) }));
    return [{ key, value: { arrayValue: { values } } }];
  }
  return Object.entries(value).flatMap(([name, part]) => attribute(`${key}.${name}`, part));
}

function text(key: string, stringValue: string): Attribute {
  return { key, value: { stringValue } };
}

function nanosOf(timestamp: string): string {
  const [, seconds = '', fraction = ''] = /^(.{19})(?:\.(\d+))?Z$/.exec(timestamp) ?? [];
  const whole = Date.parse(`${seconds}Z`);
  return Number.isNaN(whole)
    ? '0'
    : String(BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(9, '0')));
}
