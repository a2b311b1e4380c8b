// A stored row as the event it was: 64-bit numbers come as text, absent groups as empty ones.
import type { EventProcess, RuntimeEvent, StoredEvent } from '../../machines/wire/event.ts';
import { fieldsOf, timestampOfNanos } from '../ports/telemetry/stored-event.ts';

type ProcessRow = {
  readonly exec_id: string;
  readonly pid: string | null;
  readonly uid: string | null;
  readonly binary: string;
  readonly arguments: string | null;
  readonly cwd: string | null;
  readonly start_time: string | null;
};

export type EventRow = Omit<
  RuntimeEvent,
  'observed_at' | 'process' | 'parent' | 'ancestors' | 'occurrences' | 'anomaly_score'
> & {
  readonly sensor_id: string;
  readonly node_name: string;
  readonly received_ms: string;
  readonly observed_ns: string;
  readonly process: ProcessRow;
  readonly parent: ProcessRow;
  readonly ancestors: readonly ProcessRow[];
  readonly occurrences: string | null;
  readonly anomaly_score: number | null;
};

/** Columns of EventRow. */
export const EVENT_COLUMNS = `sensor_id, node_name,
  toUnixTimestamp64Milli(received_at) AS received_ms,
  toUnixTimestamp64Nano(observed_at) AS observed_ns,
  event_id, schema_version, event_kind, severity, message, process, parent, ancestors, workload,
  network_namespace, network, file, policy, mitre, anomaly_score, occurrences, first_observed_at,
  telecom, raw_kind`;

/** The event of a row. A group is absent when its required member is null. */
export function eventOfRow(row: EventRow): StoredEvent {
  const { sensor_id, node_name, received_ms, observed_ns } = row;
  const process = processOf(row.process);
  const parent = processOf(row.parent);
  const event = {
    ...row,
    observed_at: timestampOfNanos(observed_ns),
    process: process ?? undefined,
    parent: parent ?? undefined,
    ancestors: ancestorsOf(row.ancestors),
    network: row.network?.protocol === null ? undefined : row.network,
    file: row.file?.operation === null ? undefined : row.file,
    policy: row.policy?.name === null ? undefined : row.policy,
    mitre: row.mitre?.technique === null ? undefined : row.mitre,
    anomaly_score: row.anomaly_score ?? undefined,
    occurrences: row.occurrences === null ? undefined : Number(row.occurrences),
  };
  return {
    sensor_id,
    node_name,
    received_at: new Date(Number(received_ms)).toISOString(),
    ...fieldsOf(event as unknown as RuntimeEvent),
  };
}

export function ancestorsOf(rows: readonly ProcessRow[]): EventProcess[] {
  return rows.map(processOf).filter((one) => one !== null);
}

/** Null where there is none. */
export function processOf(row: ProcessRow | undefined): EventProcess | null {
  if (row === undefined || row.pid === null) return null;
  return {
    exec_id: row.exec_id,
    pid: Number(row.pid),
    binary: row.binary,
    ...(row.uid === null ? {} : { uid: Number(row.uid) }),
    ...(row.arguments === null ? {} : { arguments: row.arguments }),
    ...(row.cwd === null ? {} : { cwd: row.cwd }),
    ...(row.start_time === null ? {} : { start_time: row.start_time }),
  };
}
