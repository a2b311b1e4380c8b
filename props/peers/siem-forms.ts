// What each SIEM takes, as its maker documents it, read by a reader of the tests' own: nothing of the product is used. Each
// answers the events of a request and throws for a form that the receiver would refuse.
import { gunzipSync } from 'node:zlib';
import type { Received } from './webhook-receiver.ts';

export type SeenEvent = { readonly event_id: string; readonly [name: string]: unknown };
const MIB = 1_048_576;

function must(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new Error(`not as documented: ${what}`);
}

function textOf({ headers, body }: Received): string {
  const isGzip = headers['content-encoding'] === 'gzip';
  must(isGzip || headers['content-encoding'] === undefined, 'the encoding');
  const raw = isGzip ? gunzipSync(body) : body;
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw);
}

function jsonLines(text: string): readonly SeenEvent[] {
  must(text.endsWith('\n'), 'the last line ends');
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as SeenEvent);
}

/** Observe: POST /v1/http/<path>, a bearer token, newline-delimited JSON; 10 MB compressed, 50 MB raw, 4 MB an observation. */
export function readObserve(request: Received, token: string): readonly SeenEvent[] {
  must(request.method === 'POST' && request.path.startsWith('/v1/http/'), 'the path');
  must(request.headers.authorization === `Bearer ${token}`, 'the token');
  must(request.headers['content-type'] === 'application/x-ndjson', 'the content type');
  must(request.body.length <= 10_000_000, 'the size');
  const text = textOf(request);
  must(Buffer.byteLength(text) <= 50_000_000, 'the size of what is inside');
  const lines = jsonLines(text);
  must(
    lines.every((line) => JSON.stringify(line).length <= 4_000_000),
    'the size of one',
  );
  return lines;
}

/** Huntress: an HTTP event collector of Splunk's form; JSON objects after one another, `event` on top. */
export function readHuntress(request: Received, token: string): readonly SeenEvent[] {
  must(request.method === 'POST' && request.path === '/services/collector/event', 'the path');
  must(request.headers.authorization === `Splunk ${token}`, 'the token');
  const known = new Set(['time', 'host', 'source', 'sourcetype', 'index', 'fields', 'event']);
  return jsonLines(textOf(request)).map((line) => {
    must(
      Object.keys(line).every((name) => known.has(name)),
      'names beside the event',
    );
    const { time, host, source, sourcetype, event } = line as Record<string, unknown>;
    must(typeof time === 'number' && time > 1e9 && time < 1e10, 'seconds since the epoch');
    must(typeof host === 'string' && typeof source === 'string', 'host and source');
    must(typeof sourcetype === 'string', 'the source type');
    must(typeof event === 'object' && event !== null, 'the event');
    return event as SeenEvent;
  });
}

/** Sumo Logic: the address is the secret; one JSON object a line, gzip, 1 MB of data at most, the three headers. */
export function readSumo(request: Received, path: string): readonly SeenEvent[] {
  must(request.method === 'POST' && request.path === path, 'the path with its token');
  must(request.headers['content-encoding'] === 'gzip', 'gzip');
  for (const name of ['x-sumo-category', 'x-sumo-name', 'x-sumo-host']) {
    must(typeof request.headers[name] === 'string', name);
  }
  const text = textOf(request);
  must(Buffer.byteLength(text) <= MIB, 'the size');
  return jsonLines(text);
}

type Value = {
  readonly stringValue?: string;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly Value[] };
};
type Attribute = { readonly key: string; readonly value: Value };
type LogRecord = {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: Value;
  readonly attributes: readonly Attribute[];
};

/** OTLP over HTTP in JSON: ExportLogsServiceRequest, camel case, 64-bit numbers as text, one kind of value in each. */
export function readOtlp(
  request: Received,
): readonly (SeenEvent & { readonly record: LogRecord })[] {
  must(request.method === 'POST' && request.path === '/v1/logs', 'the path');
  must(request.headers['content-type'] === 'application/json', 'the content type');
  const whole = JSON.parse(textOf(request)) as {
    resourceLogs: {
      resource: { attributes: Attribute[] };
      scopeLogs: { logRecords: LogRecord[] }[];
    }[];
  };
  return whole.resourceLogs.flatMap(({ resource, scopeLogs }) => {
    must(
      resource.attributes.some(
        ({ key, value }) => key === 'service.name' && value.stringValue !== '',
      ),
      'service.name',
    );
    return scopeLogs.flatMap(({ logRecords }) => logRecords.map(recordOf));
  });
}

function recordOf(record: LogRecord): SeenEvent & { readonly record: LogRecord } {
  must(/^\d{19}$/.test(record.timeUnixNano), 'nanoseconds as text');
  must(/^\d{19}$/.test(record.observedTimeUnixNano), 'nanoseconds as text');
  must(record.severityNumber >= 1 && record.severityNumber <= 24, 'the severity');
  const keys = record.attributes.map(({ key }) => key);
  must(new Set(keys).size === keys.length, 'each key once');
  for (const { value } of record.attributes) {
    must(Object.keys(value).length === 1, 'one kind of value');
    must(value.intValue === undefined || /^-?\d+$/.test(value.intValue), 'whole numbers as text');
  }
  const id = record.attributes.find(({ key }) => key === 'event_id')?.value.stringValue;
  must(id !== undefined, 'the id');
  return { event_id: id, record };
}

const HEADER =
  /^<(\d{1,3})>1 (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z) ([\x21-\x7e]{1,255}) ([\x21-\x7e]{1,48}) ([\x21-\x7e]{1,128}) ([\x21-\x7e]{1,32}) /;
const ELEMENT = /^\[([^ =\]"]{1,32})((?: [^ =\]"]{1,32}="(?:[^"\\\]]|\\["\\\]])*")*)\]/;

export type SyslogMessage = {
  readonly priority: number;
  readonly host: string;
  readonly app: string;
  readonly msgid: string;
  readonly params: ReadonlyMap<string, string>;
  readonly event: SeenEvent;
};

/** RFC 5425: octet counts; each frame a message of RFC 5424. */
export function readSyslog(bytes: Buffer): readonly SyslogMessage[] {
  const messages: SyslogMessage[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const count = bytes.subarray(at, space).toString('latin1');
    must(/^[1-9]\d*$/.test(count), `an octet count, not ${count}`);
    const end = space + 1 + Number(count);
    must(end <= bytes.length, 'a whole frame');
    messages.push(messageOf(bytes.subarray(space + 1, end)));
    at = end;
  }
  return messages;
}

function messageOf(frame: Buffer): SyslogMessage {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(frame);
  const header = HEADER.exec(text);
  must(header !== null, `a header: ${text.slice(0, 120)}`);
  const [whole, priority, , host = '', app = '', , msgid = ''] = header;
  must(Number(priority) <= 191, 'a priority');
  const element = ELEMENT.exec(text.slice(whole.length));
  must(element !== null, 'structured data');
  const rest = text.slice(whole.length + element[0].length);
  must(rest.startsWith(' \u{feff}'), 'a message in UTF-8 says so');
  const params = new Map(
    [...(element[2] ?? '').matchAll(/ ([^ =\]"]+)="((?:[^"\\\]]|\\["\\\]])*)"/g)].map(
      ([, name = '', value = '']) => [name, value.replaceAll(/\\(["\\\]])/g, '$1')],
    ),
  );
  const event = JSON.parse(rest.slice(2)) as SeenEvent;
  return { priority: Number(priority), host, app, msgid, params, event };
}
