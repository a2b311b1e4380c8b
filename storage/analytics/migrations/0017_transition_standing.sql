-- What an actor was after a move: its value, its facts and the timers that ran with their due instants, as JSON, and the
-- version of the machine that wrote it. Empty where rows were dropped. decision: D88
ALTER TABLE sensor_transitions
  ADD COLUMN IF NOT EXISTS standing String DEFAULT '' CODEC(ZSTD(3)),
  ADD COLUMN IF NOT EXISTS machine LowCardinality(String) DEFAULT ''
;
