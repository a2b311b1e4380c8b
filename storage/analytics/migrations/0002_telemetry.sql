-- What heartbeats tell beside events. Every table is partitioned by the Console's own time, so that a node whose clock is
-- wrong can neither spread one insert over many partitions nor outlive the retention. decision: D48; invariant: I19
--
-- The loss ledger: the newest report of an hour counts, and a stream is one state directory of a sensor.
CREATE TABLE IF NOT EXISTS sensor_coverage (
  sensor_id String CODEC(ZSTD(1)),
  hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
  stream_id String CODEC(ZSTD(1)),
  reported_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  seen UInt64 CODEC(ZSTD(1)),
  kernel_lost UInt64 CODEC(ZSTD(1)),
  engine_lost UInt64 CODEC(ZSTD(1)),
  reader_skipped UInt64 CODEC(ZSTD(1)),
  pipeline_dropped UInt64 CODEC(ZSTD(1)),
  spool_discarded UInt64 CODEC(ZSTD(1)),
  console_refused UInt64 CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(reported_at)
PARTITION BY toYYYYMM(reported_at)
ORDER BY (sensor_id, hour, stream_id)
TTL toDateTime(reported_at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1,
  fsync_part_directory = 1
;
CREATE TABLE IF NOT EXISTS resource_metrics (
  sensor_id String CODEC(ZSTD(1)),
  at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  cpu_percent Float64,
  memory_bytes UInt64,
  load_1m Nullable(Float64),
  uptime_seconds Nullable(Float64),
  disk_free_bytes Nullable(UInt64),
  pipeline Tuple(read UInt64, normalized UInt64, dropped UInt64, aggregated UInt64,
    spooled UInt64, spool_depth UInt64, discarded UInt64, sent_stream UInt64,
    sent_heartbeat UInt64, engine_lost UInt64)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (sensor_id, at)
TTL toDateTime(at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000
;
-- A flow that is reported again, grown, has the same beginning and takes the place of the earlier report.
CREATE TABLE IF NOT EXISTS network_flows (
  sensor_id String CODEC(ZSTD(1)),
  first_seen_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  last_seen_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  reported_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  protocol LowCardinality(String),
  direction LowCardinality(String),
  remote_ip String CODEC(ZSTD(1)),
  port UInt32,
  domain String CODEC(ZSTD(1)),
  binary String CODEC(ZSTD(1)),
  container_id String CODEC(ZSTD(1)),
  connections UInt64
)
ENGINE = ReplacingMergeTree(reported_at)
PARTITION BY toYYYYMM(reported_at)
ORDER BY (sensor_id, first_seen_at, direction, protocol, remote_ip, port, domain, binary, container_id)
TTL toDateTime(reported_at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000
;
-- Nothing ever wrote the first shape of these two.
DROP TABLE IF EXISTS process_baselines
;
CREATE TABLE IF NOT EXISTS process_baselines (
  sensor_id String CODEC(ZSTD(1)),
  binary String CODEC(ZSTD(1)),
  stored_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  -- Forgotten by the Sensor; the row stays until its time is over.
  is_removed Bool,
  executions Float64,
  is_warm Bool,
  learned_since DateTime64(3, 'UTC'),
  updated_at DateTime64(3, 'UTC'),
  children Array(Tuple(name String, weight Float64)),
  files Array(Tuple(name String, weight Float64)),
  destinations Array(Tuple(name String, weight Float64)),
  users Array(Tuple(name String, weight Float64)),
  hours Array(Float64)
)
ENGINE = ReplacingMergeTree(stored_at)
PARTITION BY toYYYYMM(stored_at)
ORDER BY (sensor_id, binary)
TTL toDateTime(stored_at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000
;
DROP TABLE IF EXISTS anomaly_scores
;
CREATE TABLE IF NOT EXISTS anomaly_scores (
  sensor_id String CODEC(ZSTD(1)),
  at DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  event_id String CODEC(ZSTD(1)),
  event_kind LowCardinality(String),
  binary String CODEC(ZSTD(1)),
  score Float64
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (sensor_id, at, event_id)
TTL toDateTime(received_at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000
;
-- Scores come with their events, in the same insert; what the store has of one it has of the other.
CREATE MATERIALIZED VIEW IF NOT EXISTS anomaly_scores_feed TO anomaly_scores AS
SELECT sensor_id, observed_at AS at, received_at, event_id, event_kind,
  tupleElement(process, 'binary') AS binary, assumeNotNull(anomaly_score) AS score
FROM runtime_events
WHERE isNotNull(anomaly_score)
;
