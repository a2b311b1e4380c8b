// Where each field of a condition lies in the table of events, and how the table says that an event has it.
import type { FieldName } from '../../machines/detection/fields.ts';

export type FieldColumn =
  /** `present` null: every event has it. `value` is never null where it is present. */
  | { readonly present: string | null; readonly value: string; readonly each?: never }
  | { readonly present?: never; readonly value?: never; readonly each: string };

const always = (value: string): FieldColumn => ({ present: null, value });
const within = (value: string, present: string): FieldColumn => ({ present, value });
const nullable = (column: string, none = `''`): FieldColumn => ({
  present: `isNotNull(${column})`,
  value: `ifNull(${column}, ${none})`,
});
const number = (column: string): FieldColumn => nullable(column, '0');

const IS_PROCESS = 'isNotNull(process.pid)';
const IS_PARENT = 'isNotNull(parent.pid)';
const IS_NETWORK = 'isNotNull(network.protocol)';
const IS_FILE = 'isNotNull(file.operation)';

export const FIELD_COLUMNS: Readonly<Record<FieldName, FieldColumn>> = {
  event_id: always('event_id'),
  event_kind: always('event_kind'),
  severity: always('severity'),
  message: always('message'),
  sensor_id: always('sensor_id'),
  node_name: always('node_name'),
  'process.exec_id': within('process.exec_id', IS_PROCESS),
  'process.pid': number('process.pid'),
  'process.uid': number('process.uid'),
  'process.binary': within('process.binary', IS_PROCESS),
  'process.arguments': nullable('process.arguments'),
  'process.cwd': nullable('process.cwd'),
  'parent.exec_id': within('parent.exec_id', IS_PARENT),
  'parent.pid': number('parent.pid'),
  'parent.uid': number('parent.uid'),
  'parent.binary': within('parent.binary', IS_PARENT),
  'parent.arguments': nullable('parent.arguments'),
  'parent.cwd': nullable('parent.cwd'),
  'ancestors.binary': { each: 'ancestors.binary' },
  'ancestors.arguments': { each: 'ancestors.arguments' },
  'workload.container_id': nullable('workload.container_id'),
  'workload.k8s_namespace': nullable('workload.k8s_namespace'),
  'workload.pod_name': nullable('workload.pod_name'),
  'workload.workload_type': nullable('workload.workload_type'),
  'workload.workload_name': nullable('workload.workload_name'),
  'workload.image': nullable('workload.image'),
  network_namespace: nullable('network_namespace'),
  'network.protocol': nullable('network.protocol'),
  'network.direction': within('network.direction', IS_NETWORK),
  'network.source_ip': nullable('network.source_ip'),
  'network.source_port': number('network.source_port'),
  'network.destination_ip': nullable('network.destination_ip'),
  'network.destination_port': number('network.destination_port'),
  'network.domain': nullable('network.domain'),
  'file.path': within('file.path', IS_FILE),
  'file.operation': nullable('file.operation'),
  'policy.name': nullable('policy.name'),
  'policy.action': within('policy.action', 'isNotNull(policy.name)'),
  'mitre.technique': nullable('mitre.technique'),
  'mitre.tactic': within('mitre.tactic', 'isNotNull(mitre.technique)'),
  anomaly_score: number('anomaly_score'),
  occurrences: number('occurrences'),
  'telecom.protocol_family': nullable('telecom.protocol_family'),
  'telecom.interface_context': nullable('telecom.interface_context'),
  'telecom.transport_context': nullable('telecom.transport_context'),
  'telecom.network_function_role': nullable('telecom.network_function_role'),
  'telecom.procedure': nullable('telecom.procedure'),
  raw_kind: nullable('raw_kind'),
};
