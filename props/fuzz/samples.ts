// Valid messages to begin with, as a Sensor would write them.
const ORDER_ID = '01893a2b-1c2d-7e3f-8a4b-5c6d7e8f9a0b';
const TIME = '2026-03-04T05:06:07.123456789Z';
const ID = '0123456789abcdef0123456789abcdef';

export const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
export const texts = (...list: readonly string[]): Buffer[] =>
  list.map((text) => Buffer.from(text));

const process = {
  exec_id: 'bm9kZToxOjE=',
  pid: 4_242,
  uid: 0,
  binary: '/usr/bin/curl',
  arguments: '-s https://example.org',
  cwd: '/root',
  start_time: TIME,
};
export const plainEvent = {
  event_id: ID,
  schema_version: 1,
  observed_at: TIME,
  event_kind: 'process_exec',
  severity: 'info',
  message: 'curl started',
};
export const fullEvent = {
  ...plainEvent,
  event_kind: 'network_connect',
  process,
  parent: process,
  ancestors: [process],
  workload: { container_id: 'c1', k8s_namespace: 'default', pod_name: 'p', image: 'nginx:1' },
  network_namespace: '4026531992',
  network: {
    protocol: 'tcp',
    direction: 'outbound',
    source_ip: '10.0.0.1',
    source_port: 40_000,
    destination_ip: '::1',
    destination_port: 443,
  },
  file: { path: '/etc/passwd', operation: 'open' },
  policy: { name: 'deny', action: 'sigkill' },
  mitre: { technique: 'T1059', tactic: 'execution' },
  anomaly_score: 0.5,
  occurrences: 3,
  first_observed_at: TIME,
  telecom: { protocol_family: 'ngap', procedure: 'initial_ue' },
  raw_kind: 'process_kprobe:tcp_connect',
};
const system = {
  os_name: 'Debian GNU/Linux',
  os_version: '13',
  architecture: 'x86_64',
  kernel_version: '6.12.0',
};

export const enrollRequest = {
  token: 'svce_0000000000000000000000000000000000000000000000000',
  csr_pem: '-----BEGIN CERTIFICATE REQUEST-----\nAA==\n-----END CERTIFICATE REQUEST-----\n',
  node_name: 'node-1.example',
  flavor: 'telecom',
  declared_role: 'amf',
  labels: { region: 'eu', rack: '12' },
  system,
  boot_id: 'f0b1',
  sensor_version: '0.1.0',
};

export const heartbeatRequest = {
  stream_id: ID,
  sequence: 7,
  sent_at: TIME,
  boot_id: 'f0b1',
  sensor: { version: '0.1.0', flavor: 'standard', capabilities: ['stream'] },
  engine: {
    kind: 'procfs',
    version: '1',
    state: 'running',
    restarts: 0,
    disabled_hooks: [{ hook: 'tcp_connect', reason: 'no BTF' }],
    loaded_policies: [
      { name: 'default', state: 'monitoring', acted: 0, would_have_acted: 3, reason: 'unsigned' },
    ],
  },
  trust: {
    state: 'trusted',
    certificate_expires_at: '2026-04-01T00:00:00Z',
    renewal_status: 'ok',
    last_trust_error_at: TIME,
  },
  events: [plainEvent],
  connections: [
    {
      protocol: 'tcp',
      local_ip: '10.0.0.1',
      local_port: 22,
      remote_ip: '10.0.0.2',
      remote_port: 50_000,
      state: 'established',
      pid: 1,
      binary: '/usr/sbin/sshd',
    },
  ],
  listening_services: [{ protocol: 'tcp', ip: '0.0.0.0', port: 22 }],
  section_hashes: { connections: 'a'.repeat(64), listening_services: 'b'.repeat(64) },
  flows: [
    {
      ...{ protocol: 'tcp', direction: 'outbound', remote_ip: '192.0.2.7', port: 443 },
      ...{ domain: 'example.org', binary: '/usr/bin/curl', container_id: 'c1', connections: 2 },
      first_seen_at: '2026-01-01T00:00:00.000Z',
      last_seen_at: '2026-01-01T00:00:09.000Z',
    },
  ],
  loss: {
    run: '0123456789abcdef',
    report: 3,
    total: { seen: 12, engine_lost: 1 },
    hours: [{ hour: '2026-01-01T00:00:00.000Z', seen: 12, engine_lost: 1 }],
  },
  resources: { cpu_percent: 1.5, memory_bytes: 1_000_000, load_1m: 0.2, disk_free_bytes: 5 },
  system,
  pipeline: {
    read: 1,
    normalized: 1,
    dropped: 0,
    aggregated: 0,
    spooled: 1,
    spool_depth: 0,
    discarded: 0,
    sent_stream: 1,
    sent_heartbeat: 0,
    engine_lost: 0,
  },
  telecom: { role: 'amf' },
};

export const eventsRequest = {
  stream_id: ID,
  sequence: 1,
  channel: 'batch',
  events: [fullEvent, plainEvent],
};

const HASH = 'a'.repeat(64);
export const inventoryRequest = {
  is_full_snapshot: false,
  sections: {
    processes: { hash: HASH, items: [{ pid: 1, binary: '/sbin/init' }] },
    packages: {
      base_hash: HASH,
      hash: HASH,
      added: [{ name: 'bash', version: '5.2' }],
      removed: [],
    },
  },
};

export const upstreamFrames = [
  {
    type: 'hello',
    instance_id: ID,
    boot_id: 'f0b1',
    stream_id: ID,
    sensor_version: '0.1.0',
    capabilities: ['stream'],
  },
  { type: 'events', sequence: 1, events: [plainEvent, fullEvent] },
  { type: 'pong', at: TIME, instance_id: ID },
  { type: 'status', status: { engine: 'running' } },
  { type: 'goodbye', reason: 'stopping' },
];

export const downstreamFrames = [
  {
    type: 'welcome',
    acknowledged: 4,
    server_time: TIME,
    settings: { heartbeat_interval_seconds: 15 },
  },
  { type: 'ping', at: TIME },
  { type: 'ack', sequence: 3 },
  { type: 'refused', sequence: 3, code: 'sequence_conflict', detail: 'The number was used.' },
  { type: 'refresh', what: ['policy', 'certificate'] },
  { type: 'revoked' },
  { type: 'contain', order_id: ORDER_ID, reason: 'a test', until: TIME },
  { type: 'release', order_id: ORDER_ID },
  { type: 'retry_after', ms: 500, sequence: 3 },
];
