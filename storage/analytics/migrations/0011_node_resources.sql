-- The use of the whole node, beside the Sensor's own.
ALTER TABLE resource_metrics
  ADD COLUMN IF NOT EXISTS node_cpu_percent Nullable(Float64) AFTER memory_bytes,
  ADD COLUMN IF NOT EXISTS node_memory_total_bytes Nullable(UInt64) AFTER node_cpu_percent,
  ADD COLUMN IF NOT EXISTS node_memory_available_bytes Nullable(UInt64) AFTER node_memory_total_bytes
;
