// The fields of an event that a condition can name: what each holds, its short names, and how it is read. Adding one here
// makes the event store's column of it a type error until it is there. decision: D97
import { EVENT_KINDS, SEVERITIES, type StoredEvent } from '../wire/event.ts';

/** `choice` holds one of known words, in order when they rise. */
export type FieldKind = 'text' | 'integer' | 'decimal' | 'address' | 'choice';

type Value = string | number | undefined;
export type FieldRead = (event: StoredEvent) => Value;
export type EventField = {
  readonly kind: FieldKind;
  readonly about: string;
  /** Other names for it. */
  readonly short?: readonly string[];
  /** Letters A-Z and a-z are the same in it. */
  readonly folds?: true;
  readonly choices?: readonly string[];
  readonly rises?: true;
} & (
  | { readonly read: FieldRead; readonly readAll?: never }
  /** Holds several: a comparison is true when it is true of one. */
  | { readonly read?: never; readonly readAll: (event: StoredEvent) => readonly Value[] }
);

const text = (about: string, read: FieldRead, ...short: string[]): EventField => ({
  ...{ kind: 'text', about, read },
  ...(short.length === 0 ? {} : { short }),
});
const integer = (about: string, read: FieldRead, ...short: string[]): EventField => ({
  ...text(about, read, ...short),
  kind: 'integer',
});
const address = (about: string, read: FieldRead, ...short: string[]): EventField => ({
  ...text(about, read, ...short),
  kind: 'address',
});
const NONE: readonly Value[] = [];

export const EVENT_FIELDS = {
  event_id: text('Identifier of the event', (e) => e.event_id),
  event_kind: {
    ...text('Kind of the event', (e) => e.event_kind, 'kind'),
    ...{ kind: 'choice', choices: EVENT_KINDS },
  },
  severity: {
    ...text('Severity, from info to critical', (e) => e.severity),
    ...{ kind: 'choice', choices: SEVERITIES, rises: true },
  },
  message: text('The sentence that tells the event', (e) => e.message),
  sensor_id: text('Identifier of the sensor', (e) => e.sensor_id, 'sensor'),
  node_name: text('Name of the node', (e) => e.node_name, 'node'),
  'process.exec_id': text(
    'Identifier of the execution',
    (e) => e.process?.exec_id,
    ...['exec_id', 'exec'],
  ),
  'process.pid': integer('Number of the process', (e) => e.process?.pid, 'pid'),
  'process.uid': integer('Number of the user', (e) => e.process?.uid, 'uid'),
  'process.binary': text('Path of the program', (e) => e.process?.binary, 'binary'),
  'process.arguments': text('Arguments as one text', (e) => e.process?.arguments, 'arguments'),
  'process.cwd': text('Working directory', (e) => e.process?.cwd, 'cwd'),
  'parent.exec_id': text('Identifier of the parent', (e) => e.parent?.exec_id),
  'parent.pid': integer('Number of the parent', (e) => e.parent?.pid),
  'parent.uid': integer('User of the parent', (e) => e.parent?.uid),
  'parent.binary': text('Program of the parent', (e) => e.parent?.binary, 'parent_binary'),
  'parent.arguments': text('Arguments of the parent', (e) => e.parent?.arguments),
  'parent.cwd': text('Working directory of the parent', (e) => e.parent?.cwd),
  'ancestors.binary': {
    ...{ kind: 'text', about: 'Program of any ancestor', short: ['ancestor'] },
    readAll: (e) => e.ancestors?.map((one) => one.binary) ?? NONE,
  },
  'ancestors.arguments': {
    ...{ kind: 'text', about: 'Arguments of any ancestor' },
    readAll: (e) => e.ancestors?.map((one) => one.arguments) ?? NONE,
  },
  'workload.container_id': text('Container', (e) => e.workload?.container_id, 'container_id'),
  'workload.k8s_namespace': text(
    'Kubernetes namespace',
    (e) => e.workload?.k8s_namespace,
    ...['k8s_namespace', 'namespace'],
  ),
  'workload.pod_name': text('Pod', (e) => e.workload?.pod_name, 'pod_name', 'pod'),
  'workload.workload_type': text(
    'Kind of the workload',
    (e) => e.workload?.workload_type,
    'workload_type',
  ),
  'workload.workload_name': text('Workload', (e) => e.workload?.workload_name, 'workload_name'),
  'workload.image': text('Image of the container', (e) => e.workload?.image, 'image'),
  network_namespace: text('Network namespace', (e) => e.network_namespace),
  'network.protocol': text('Protocol', (e) => e.network?.protocol, 'protocol'),
  'network.direction': {
    ...text('Direction of the connection', (e) => e.network?.direction, 'direction'),
    ...{ kind: 'choice', choices: ['outbound', 'inbound', 'listen'] },
  },
  'network.source_ip': address('Source address', (e) => e.network?.source_ip, 'source_ip'),
  'network.source_port': integer('Source port', (e) => e.network?.source_port, 'source_port'),
  'network.destination_ip': address(
    'Destination address',
    (e) => e.network?.destination_ip,
    'destination_ip',
  ),
  'network.destination_port': integer(
    'Destination port',
    (e) => e.network?.destination_port,
    'destination_port',
  ),
  'network.domain': {
    ...text('Name that was looked up or connected to', (e) => e.network?.domain, 'domain'),
    folds: true,
  },
  'file.path': text('Path of the file', (e) => e.file?.path, 'path', 'file_path'),
  'file.operation': text('What was done to the file', (e) => e.file?.operation, 'operation'),
  'policy.name': text('Policy that matched', (e) => e.policy?.name, 'policy'),
  'policy.action': text('What the policy did', (e) => e.policy?.action, 'policy_action'),
  'mitre.technique': text('Technique of MITRE ATT&CK', (e) => e.mitre?.technique, 'technique'),
  'mitre.tactic': text('Tactic of MITRE ATT&CK', (e) => e.mitre?.tactic, 'tactic'),
  anomaly_score: {
    ...text('How unusual it is, from 0 to 1', (e) => e.anomaly_score),
    kind: 'decimal',
  },
  occurrences: integer('How often it happened', (e) => e.occurrences),
  'telecom.protocol_family': text('Protocol family', (e) => e.telecom?.protocol_family),
  'telecom.interface_context': text('Interface', (e) => e.telecom?.interface_context),
  'telecom.transport_context': text('Transport', (e) => e.telecom?.transport_context),
  'telecom.network_function_role': text(
    'Network function',
    (e) => e.telecom?.network_function_role,
  ),
  'telecom.procedure': text('Procedure', (e) => e.telecom?.procedure),
  raw_kind: text('Kind as the engine called it', (e) => e.raw_kind),
} as const satisfies Readonly<Record<string, EventField>>;

export type FieldName = keyof typeof EVENT_FIELDS;
export const FIELD_NAMES = Object.keys(EVENT_FIELDS) as readonly FieldName[];

const BY_NAME: ReadonlyMap<string, FieldName> = new Map(
  FIELD_NAMES.flatMap((name) =>
    [name, ...(fieldOf(name).short ?? [])].map((one) => [one, name] as const),
  ),
);

/** What is known of a field. */
export function fieldOf(name: FieldName): EventField {
  return EVENT_FIELDS[name];
}

/** The field with this name or short name; undefined when there is none. */
export function fieldNamed(name: string): FieldName | undefined {
  return BY_NAME.get(name);
}
