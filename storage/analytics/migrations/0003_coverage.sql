-- Counts of an hour only rise, so the highest is the newest, whatever the clock of the Console that took it said: a
-- report that was taken while a clock ran ahead must not stand before all later ones. decision: D48; invariant: I19
DROP TABLE IF EXISTS sensor_coverage
;
CREATE TABLE IF NOT EXISTS sensor_coverage (
  sensor_id String CODEC(ZSTD(1)),
  hour DateTime('UTC') CODEC(Delta, ZSTD(1)),
  stream_id String CODEC(ZSTD(1)),
  reported_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  seen SimpleAggregateFunction(max, UInt64),
  kernel_lost SimpleAggregateFunction(max, UInt64),
  engine_lost SimpleAggregateFunction(max, UInt64),
  reader_skipped SimpleAggregateFunction(max, UInt64),
  pipeline_dropped SimpleAggregateFunction(max, UInt64),
  spool_discarded SimpleAggregateFunction(max, UInt64),
  console_refused SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(reported_at)
ORDER BY (sensor_id, hour, stream_id)
TTL toDateTime(reported_at) + INTERVAL 90 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1,
  fsync_part_directory = 1
;
