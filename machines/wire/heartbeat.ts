// The heartbeat, its answer, and the events batch. A batch is named by (stream_id, channel, sequence); a heartbeat
// without events names no batch and its sequence is not looked at. decision: D6
import Type from 'typebox';
import { REPORTED_FLOWS_MAX } from '../limits.ts';
import { SystemFacts } from './enrollment.ts';
import { RuntimeEvent } from './event.ts';
import { ANSWERED_MEMBERS, TOLD_MEMBERS } from './heartbeat-members.ts';
import { SectionHash } from './inventory.ts';
import { Channel, Count, Flavor, Sequence, StreamId, Text, Timestamp } from './scalars.ts';
import { TRUST_HEALTHS, TRUST_STATES } from './words.ts';

export { TRUST_HEALTHS, TRUST_STATES };

export const ENGINE_STATES = [
  'unpacking',
  'starting',
  'running',
  'restarting',
  'failed',
  'stopped',
] as const;

/** Inode of the network namespace; absent: the Sensor's own. */
const NetworkNamespace = Type.Optional(Text(32));
const Connection = Type.Object({
  protocol: Text(8),
  local_ip: Text(64),
  local_port: Count,
  remote_ip: Text(64),
  remote_port: Count,
  state: Text(32),
  pid: Type.Optional(Count),
  binary: Type.Optional(Text(4_096)),
  network_namespace: NetworkNamespace,
});
const ListeningService = Type.Object({
  protocol: Text(8),
  ip: Text(64),
  port: Count,
  pid: Type.Optional(Count),
  binary: Type.Optional(Text(4_096)),
  network_namespace: NetworkNamespace,
});

const SectionHashes = Type.Partial(
  Type.Object({ connections: SectionHash, listening_services: SectionHash }),
);

const StoredSections = Type.Partial(
  Type.Object({ connections: SectionHash, listening_services: SectionHash, policy: SectionHash }),
);

/** Of a list that was shortened: how many there are on the node. */
const SectionTotals = Type.Partial(Type.Object({ connections: Count, listening_services: Count }));

/** Connections of one program in one direction to or from one place, since the last report that was confirmed. */
const Flow = Type.Object({
  protocol: Text(8),
  direction: Type.Enum(['inbound', 'outbound']),
  remote_ip: Text(64),
  /** Of the side that was connected to. */
  port: Type.Optional(Count),
  domain: Type.Optional(Text(256)),
  binary: Type.Optional(Text(4_096)),
  container_id: Type.Optional(Text(128)),
  connections: Count,
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
});

/** Counts since the Sensor started; absent where the engine counts none. */
const LoadedPolicy = Type.Object({
  name: Text(128),
  state: Text(32),
  /** Why it, or its newer version, is not in force. */
  reason: Type.Optional(Text(512)),
  /** Signals sent and calls refused. */
  acted: Type.Optional(Count),
  /** The same, had the policy not only monitored. */
  would_have_acted: Type.Optional(Count),
});

const DisabledHook = Type.Object({
  hook: Text(256),
  reason: Text(512),
  /** An engine that runs without it sees less than every engine is to see. */
  missing: Type.Optional(Type.Boolean()),
});

export const EngineReport = Type.Object({
  kind: Text(32),
  version: Text(32),
  /** How it sees, in its own word; absent while none runs. */
  mode: Type.Optional(Text(32)),
  state: Type.Enum([...ENGINE_STATES]),
  restarts: Count,
  disabled_hooks: Type.Array(DisabledHook, { maxItems: 256 }),
  loaded_policies: Type.Array(LoadedPolicy, { maxItems: 1_024 }),
});

export const TrustReport = Type.Object({
  state: Type.Enum([...TRUST_STATES]),
  certificate_expires_at: Timestamp,
  renewal_status: Text(64),
  last_trust_error_at: Type.Optional(Timestamp),
  last_connection_error_at: Type.Optional(Timestamp),
});

export const PipelineReport = Type.Object({
  read: Count,
  normalized: Count,
  dropped: Count,
  aggregated: Count,
  spooled: Count,
  spool_depth: Count,
  discarded: Count,
  sent_stream: Count,
  sent_heartbeat: Count,
  engine_lost: Count,
});

const NodeResources = Type.Object({
  /** Of all processors together, since the last look. */
  cpu_percent: Type.Number({ minimum: 0, maximum: 100 }),
  memory_total_bytes: Count,
  memory_available_bytes: Count,
});

export const HeartbeatRequest = Type.Object({
  stream_id: StreamId,
  sequence: Sequence,
  sent_at: Timestamp,
  boot_id: Text(64),
  sensor: Type.Object({
    version: Text(64),
    flavor: Flavor,
    declared_role: Type.Optional(Text(64)),
    capabilities: Type.Array(Text(64), { maxItems: 64 }),
  }),
  engine: EngineReport,
  trust: TrustReport,
  events: Type.Array(RuntimeEvent, { maxItems: 20_000 }),
  /** A list that is absent is what `section_hashes` says it is; an empty one means that there are none. */
  connections: Type.Optional(Type.Array(Connection, { maxItems: 20_000 })),
  listening_services: Type.Optional(Type.Array(ListeningService, { maxItems: 20_000 })),
  /** Over the stable fields of both lists, as in an inventory. */
  section_hashes: Type.Optional(SectionHashes),
  section_totals: Type.Optional(SectionTotals),
  flows: Type.Array(Flow, { maxItems: REPORTED_FLOWS_MAX }),
  resources: Type.Object({
    cpu_percent: Type.Number({ minimum: 0 }),
    memory_bytes: Count,
    load_1m: Type.Optional(Type.Number({ minimum: 0 })),
    uptime_seconds: Type.Optional(Type.Number({ minimum: 0 })),
    disk_free_bytes: Type.Optional(Count),
    /** The whole node; processor and memory above are the Sensor's own. */
    node: Type.Optional(NodeResources),
  }),
  system: SystemFacts,
  pipeline: PipelineReport,
  telecom: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  ...TOLD_MEMBERS,
});

/** What the Console decides and Sensors act by; an older Console tells less. */
export const SensorSettings = Type.Object({
  heartbeat_interval_seconds: Type.Number(),
  /** How long before its end a certificate is due for renewal. */
  renewal_threshold_seconds: Type.Optional(Type.Number({ minimum: 0 })),
});

export const HeartbeatResponse = Type.Object({
  acknowledged_sequence: Sequence,
  server_time: Timestamp,
  trust_health: Type.Enum([...TRUST_HEALTHS]),
  certificate: Type.Object({
    renewal_state: Type.Enum([...TRUST_STATES]),
    renew_now: Type.Boolean(),
    expires_at: Timestamp,
  }),
  is_contained: Type.Boolean(),
  settings: SensorSettings,
  report_full_state: Type.Optional(Type.Boolean()),
  retry_after_ms: Type.Optional(Count),
  /** What is stored of them; only what is named here by its hash may stay away. */
  stored_sections: Type.Optional(StoredSections),
  ...ANSWERED_MEMBERS,
});

export const EventsRequest = Type.Object({
  stream_id: StreamId,
  sequence: Sequence,
  channel: Type.Optional(Channel),
  events: Type.Array(RuntimeEvent, { minItems: 1, maxItems: 20_000 }),
});
export const EventsResponse = Type.Object({ acknowledged_sequence: Sequence });

export type HeartbeatRequest = Type.Static<typeof HeartbeatRequest>;
export type SensorSettings = Type.Static<typeof SensorSettings>;
export type HeartbeatResponse = Type.Static<typeof HeartbeatResponse>;
export type SectionHashes = Type.Static<typeof SectionHashes>;
export type EventsRequest = Type.Static<typeof EventsRequest>;
export type EventsResponse = Type.Static<typeof EventsResponse>;
export type EngineReport = Type.Static<typeof EngineReport>;
export type TrustReport = Type.Static<typeof TrustReport>;
export type PipelineReport = Type.Static<typeof PipelineReport>;
export type EngineState = (typeof ENGINE_STATES)[number];
export type WireTrustState = (typeof TRUST_STATES)[number];
export type TrustHealth = (typeof TRUST_HEALTHS)[number];
