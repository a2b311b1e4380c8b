-- An identity of a node that goes on with the ledger of an earlier one tells an hour again; the node's name says so.
ALTER TABLE sensor_coverage
  ADD COLUMN IF NOT EXISTS node_name SimpleAggregateFunction(anyLast, String) AFTER sensor_id
;
-- A flow only grows, so the highest is the newest, whatever the clock of the Console that took it said. decision: D48
DROP TABLE IF EXISTS network_flows
;
CREATE TABLE IF NOT EXISTS network_flows (
  sensor_id String CODEC(ZSTD(1)),
  first_seen_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  last_seen_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  reported_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  protocol LowCardinality(String),
  direction LowCardinality(String),
  remote_ip String CODEC(ZSTD(1)),
  port UInt32,
  domain String CODEC(ZSTD(1)),
  binary String CODEC(ZSTD(1)),
  container_id String CODEC(ZSTD(1)),
  connections SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(reported_at)
ORDER BY (sensor_id, first_seen_at, direction, protocol, remote_ip, port, domain, binary, container_id)
TTL toDateTime(reported_at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000
;
