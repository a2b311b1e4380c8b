// What an event looks like once it is stored, the same behind every event store: known fields only, empty groups left
// out, times as UTC text with 3, 6 or 9 digits. The reference store and the real one are both held to it.
import type { EventProcess, RuntimeEvent, StoredEvent } from '../../../machines/wire/event.ts';

/** What DateTime64(9) can hold, whole years only. */
const YEAR_MIN = 1970;
const YEAR_MAX = 2261;
const SECOND_CHARS = 19;
const FRACTION_DIGITS = 9;

/** Nanoseconds since the epoch as decimal text; null when the text is no instant that can be stored. */
export function nanosTextOf(timestamp: string): string | null {
  const year = Number(timestamp.slice(0, 4));
  if (!(year >= YEAR_MIN && year <= YEAR_MAX)) return null;
  const wholeMs = Date.parse(`${timestamp.slice(0, SECOND_CHARS)}Z`);
  if (!(wholeMs >= 0)) return null;
  const fraction = timestamp.slice(SECOND_CHARS + 1, -1).padEnd(FRACTION_DIGITS, '0');
  return wholeMs === 0 ? String(BigInt(fraction)) : `${wholeMs / 1_000}${fraction}`;
}

/** RFC 3339 text of nanoseconds since the epoch, with as few digits of 3, 6 and 9 as are exact. */
export function timestampOfNanos(nanosText: string): string {
  const digitsOfAll = nanosText.padStart(FRACTION_DIGITS + 1, '0');
  const fraction = digitsOfAll.slice(-FRACTION_DIGITS);
  const wholeMs = Number(digitsOfAll.slice(0, -FRACTION_DIGITS)) * 1_000;
  const seconds = new Date(wholeMs).toISOString();
  const digits = fraction.endsWith('000000') ? 3 : fraction.endsWith('000') ? 6 : FRACTION_DIGITS;
  return `${seconds.slice(0, SECOND_CHARS)}.${fraction.slice(0, digits)}Z`;
}

/** The instant an event is filed under: its own, or the Console's when its own cannot be stored. */
export function filedAtNanos(event: RuntimeEvent, receivedAtMs: number): string {
  return nanosTextOf(event.observed_at) ?? `${receivedAtMs}000000`;
}

/** The stored form of an event that arrived in a batch. */
export function storedEventOf(
  batch: { readonly sensorId: string; readonly nodeName: string; readonly receivedAtMs: number },
  event: RuntimeEvent,
): StoredEvent {
  return {
    sensor_id: batch.sensorId,
    node_name: batch.nodeName,
    received_at: new Date(batch.receivedAtMs).toISOString(),
    ...fieldsOf({
      ...event,
      observed_at: timestampOfNanos(filedAtNanos(event, batch.receivedAtMs)),
    }),
  };
}

/** Copies the known fields; null, absent and empty become absent. */
export function fieldsOf(event: RuntimeEvent): RuntimeEvent {
  return dropAbsent({
    event_id: event.event_id,
    schema_version: event.schema_version,
    observed_at: event.observed_at,
    event_kind: event.event_kind,
    severity: event.severity,
    message: text(event.message),
    process: processOf(event.process),
    parent: processOf(event.parent),
    ancestors: event.ancestors?.length ? event.ancestors.map(processOf) : undefined,
    workload: pick(event.workload, [
      'container_id',
      'k8s_namespace',
      'pod_name',
      'workload_type',
      'workload_name',
      'image',
    ]),
    network_namespace: text(event.network_namespace),
    network: pick(event.network, [
      'protocol',
      'direction',
      'source_ip',
      'source_port',
      'destination_ip',
      'destination_port',
      'domain',
    ]),
    file: pick(event.file, ['path', 'operation']),
    policy: pick(event.policy, ['name', 'action']),
    mitre: pick(event.mitre, ['technique', 'tactic']),
    anomaly_score: event.anomaly_score,
    occurrences: event.occurrences,
    first_observed_at: text(event.first_observed_at),
    telecom: pick(event.telecom, [
      'protocol_family',
      'interface_context',
      'transport_context',
      'network_function_role',
      'procedure',
    ]),
    raw_kind: text(event.raw_kind),
  }) as RuntimeEvent;
}

function processOf(process: EventProcess | undefined): EventProcess | undefined {
  return pick(process, ['exec_id', 'pid', 'uid', 'binary', 'arguments', 'cwd', 'start_time']);
}

/** A half surrogate is no character; it is stored as U+FFFD. */
function text(value: string | undefined): string | undefined {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

function pick<T extends object>(group: T | undefined, keys: readonly (keyof T)[]): T | undefined {
  if (group === undefined) return undefined;
  const picked: Partial<T> = {};
  for (const key of keys) {
    const value = group[key];
    if (value === undefined || value === null) continue;
    picked[key] = (typeof value === 'string' ? value.toWellFormed() : value) as T[keyof T];
  }
  return Object.keys(picked).length > 0 ? (picked as T) : undefined;
}

function dropAbsent(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined && value !== null),
  );
}
