-- One row for each look at how long an insert takes.
CREATE TABLE IF NOT EXISTS health_probes (at DateTime64(3, 'UTC'))
ENGINE = MergeTree
ORDER BY at
TTL toDateTime(at) + INTERVAL 1 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
;
