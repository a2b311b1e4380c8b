-- The only home of runtime events. Statements end with a line `;` and may run again.
-- A partition is a month of received_at and every insert stays inside one, so a batch is whole or absent. decision: D8
-- The sorting key ends with the batch's own name: rows that repeat a batch collapse, while an event that came on two
-- channels stays in both batches (readers count each event_id once), so no stored batch number ever disappears.
CREATE TABLE IF NOT EXISTS runtime_events (
  sensor_id String CODEC(ZSTD(1)),
  node_name LowCardinality(String),
  received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  stream_id String CODEC(ZSTD(1)),
  channel LowCardinality(String),
  sequence UInt64 CODEC(Delta, ZSTD(1)),
  batch_digest String CODEC(ZSTD(1)),
  event_id String CODEC(ZSTD(1)),
  schema_version UInt16,
  observed_at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  event_kind LowCardinality(String),
  severity LowCardinality(String),
  message String CODEC(ZSTD(1)),
  process Tuple(exec_id String, pid Nullable(UInt64), uid Nullable(UInt64), binary String,
    arguments Nullable(String), cwd Nullable(String), start_time LowCardinality(Nullable(String))),
  parent Tuple(exec_id String, pid Nullable(UInt64), uid Nullable(UInt64), binary String,
    arguments Nullable(String), cwd Nullable(String), start_time LowCardinality(Nullable(String))),
  ancestors Array(Tuple(exec_id String, pid UInt64, uid Nullable(UInt64), binary String,
    arguments Nullable(String), cwd Nullable(String), start_time Nullable(String))),
  workload Tuple(container_id LowCardinality(Nullable(String)),
    k8s_namespace LowCardinality(Nullable(String)), pod_name LowCardinality(Nullable(String)),
    workload_type LowCardinality(Nullable(String)), workload_name LowCardinality(Nullable(String)),
    image LowCardinality(Nullable(String))),
  network_namespace LowCardinality(Nullable(String)),
  network Tuple(protocol LowCardinality(Nullable(String)), direction LowCardinality(String),
    source_ip Nullable(String), source_port Nullable(UInt16), destination_ip Nullable(String),
    destination_port Nullable(UInt16), domain Nullable(String)),
  file Tuple(path String, operation LowCardinality(Nullable(String))),
  policy Tuple(name LowCardinality(Nullable(String)), action LowCardinality(String)),
  mitre Tuple(technique LowCardinality(Nullable(String)), tactic LowCardinality(String)),
  anomaly_score Nullable(Float64),
  occurrences Nullable(UInt64),
  first_observed_at Nullable(String),
  telecom Tuple(protocol_family LowCardinality(Nullable(String)),
    interface_context LowCardinality(Nullable(String)),
    transport_context LowCardinality(Nullable(String)),
    network_function_role LowCardinality(Nullable(String)),
    procedure LowCardinality(Nullable(String))),
  raw_kind LowCardinality(Nullable(String)),
  PROJECTION batches (
    SELECT sensor_id, stream_id, channel, sequence, any(batch_digest)
    GROUP BY sensor_id, stream_id, channel, sequence
  )
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(received_at)
PRIMARY KEY (sensor_id, observed_at, event_id)
ORDER BY (sensor_id, observed_at, event_id, stream_id, channel, sequence)
TTL toDateTime(received_at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1,
  fsync_part_directory = 1, deduplicate_merge_projection_mode = 'rebuild'
;
CREATE TABLE IF NOT EXISTS sensor_transitions (
  sensor_id String CODEC(ZSTD(1)),
  at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  -- Orders the moves of one instant.
  position UInt64,
  actor_kind LowCardinality(String),
  region LowCardinality(String),
  from_state LowCardinality(String),
  to_state LowCardinality(String),
  event LowCardinality(String),
  facts String CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (sensor_id, at, position)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1,
  fsync_part_directory = 1
;
CREATE TABLE IF NOT EXISTS anomaly_scores (
  sensor_id String,
  at DateTime64(3, 'UTC'),
  subject String,
  score Float64,
  model LowCardinality(String),
  detail String
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (sensor_id, at)
TTL toDateTime(at) + INTERVAL 90 DAY
;
CREATE TABLE IF NOT EXISTS process_baselines (
  sensor_id String,
  binary String,
  hour DateTime('UTC'),
  executions UInt64,
  updated_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(updated_at)
PARTITION BY toYYYYMM(hour)
ORDER BY (sensor_id, binary, hour)
TTL hour + INTERVAL 90 DAY
;
CREATE TABLE IF NOT EXISTS ngap_kpi (
  sensor_id String,
  at DateTime64(3, 'UTC'),
  procedure LowCardinality(String),
  attempts UInt64,
  failures UInt64,
  latency_p95_ms Nullable(Float64)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (sensor_id, procedure, at)
TTL toDateTime(at) + INTERVAL 90 DAY
;
CREATE TABLE IF NOT EXISTS energy_metrics (
  sensor_id String,
  at DateTime64(3, 'UTC'),
  component LowCardinality(String),
  watts Float64
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (sensor_id, component, at)
TTL toDateTime(at) + INTERVAL 90 DAY
;
CREATE TABLE IF NOT EXISTS telco_trends (
  sensor_id String,
  at DateTime64(3, 'UTC'),
  metric LowCardinality(String),
  value Float64
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (sensor_id, metric, at)
TTL toDateTime(at) + INTERVAL 90 DAY
;
