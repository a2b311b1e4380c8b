// The normalized runtime event, schema version 1: what the Sensor makes of an engine's line and the Console stores.
// `event_id` is deterministic, so a repeat is recognisable. Unknown fields are ignored, not refused.
import Type from 'typebox';
import { Count, Text, Timestamp } from './scalars.ts';
import { EVENT_KINDS, SEVERITIES } from './words.ts';

export { EVENT_KINDS, SEVERITIES };

export const EVENT_SCHEMA_VERSION = 1;

export const BINARY_MAX_CHARS = 4_096;
export const ARGUMENTS_MAX_CHARS = 4_096;
export const MESSAGE_MAX_CHARS = 2_048;
export const NAME_MAX_CHARS = 256;
export const ANCESTORS_MAX = 16;

/** How the action begins of a policy that only monitors: `monitored.sigkill` is told, nothing was killed. */
export const MONITORED_TAG = 'monitored.';

const Name = Text(NAME_MAX_CHARS);
const Port = Type.Integer({ minimum: 0, maximum: 65_535 });

export const EventProcess = Type.Object({
  exec_id: Name,
  pid: Count,
  uid: Type.Optional(Count),
  binary: Text(BINARY_MAX_CHARS),
  arguments: Type.Optional(Text(ARGUMENTS_MAX_CHARS)),
  cwd: Type.Optional(Text(BINARY_MAX_CHARS)),
  start_time: Type.Optional(Timestamp),
});

export const RuntimeEvent = Type.Object({
  event_id: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  schema_version: Type.Integer({ minimum: 1, maximum: 1_000 }),
  observed_at: Timestamp,
  event_kind: Type.Enum([...EVENT_KINDS]),
  severity: Type.Enum([...SEVERITIES]),
  message: Text(MESSAGE_MAX_CHARS),
  process: Type.Optional(EventProcess),
  parent: Type.Optional(EventProcess),
  ancestors: Type.Optional(Type.Array(EventProcess, { maxItems: ANCESTORS_MAX })),
  workload: Type.Optional(
    Type.Object({
      container_id: Type.Optional(Name),
      k8s_namespace: Type.Optional(Name),
      pod_name: Type.Optional(Name),
      workload_type: Type.Optional(Name),
      workload_name: Type.Optional(Name),
      image: Type.Optional(Text(1_024)),
    }),
  ),
  network_namespace: Type.Optional(Name),
  network: Type.Optional(
    Type.Object({
      protocol: Name,
      direction: Type.Enum(['outbound', 'inbound', 'listen']),
      source_ip: Type.Optional(Name),
      source_port: Type.Optional(Port),
      destination_ip: Type.Optional(Name),
      destination_port: Type.Optional(Port),
      domain: Type.Optional(Name),
    }),
  ),
  file: Type.Optional(Type.Object({ path: Text(BINARY_MAX_CHARS), operation: Name })),
  // One word says both what and that it was not done, so that a reader that knows less of it takes it for no kill.
  policy: Type.Optional(Type.Object({ name: Name, action: Name })),
  mitre: Type.Optional(Type.Object({ technique: Name, tactic: Name })),
  anomaly_score: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  occurrences: Type.Optional(Count),
  first_observed_at: Type.Optional(Timestamp),
  telecom: Type.Optional(
    Type.Object({
      protocol_family: Type.Optional(Name),
      interface_context: Type.Optional(Name),
      transport_context: Type.Optional(Name),
      network_function_role: Type.Optional(Name),
      procedure: Type.Optional(Name),
    }),
  ),
  raw_kind: Type.Optional(Name),
});

export type RuntimeEvent = Type.Static<typeof RuntimeEvent>;
export type EventProcess = Type.Static<typeof EventProcess>;
export type EventKind = (typeof EVENT_KINDS)[number];
export type Severity = (typeof SEVERITIES)[number];

/** An event as stored and shown: what the Console adds comes from the certificate and its own clock, never from the body. */
export type StoredEvent = RuntimeEvent & {
  readonly sensor_id: string;
  readonly node_name: string;
  readonly received_at: string;
};
