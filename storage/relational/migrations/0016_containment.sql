-- Who ordered that a node be cut off from everything but the Console, and who let it go. Orders of one sensor rise by id,
-- so that the newest is known wherever one arrives. The sensor names its newest.
CREATE TABLE containment_orders (
  order_id text COLLATE "C" PRIMARY KEY,
  sensor_id text COLLATE "C" NOT NULL REFERENCES sensors (sensor_id),
  wanted text NOT NULL CHECK (wanted IN ('contained', 'released')),
  reason text NOT NULL,
  ordered_by text NOT NULL,
  ordered_at_ms bigint NOT NULL,
  until_ms bigint,
  CHECK (wanted = 'contained' OR until_ms IS NULL)
);
CREATE INDEX containment_orders_by_sensor ON containment_orders (sensor_id, order_id);
ALTER TABLE sensors ADD COLUMN containment_order_id text COLLATE "C"
  REFERENCES containment_orders (order_id);
