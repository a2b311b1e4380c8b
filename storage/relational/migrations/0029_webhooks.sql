-- Webhooks, and alerts on their way to them. The row of a delivery is the job: what is waiting and due is tried by the
-- Console that is designated, under its epoch and a lease. What was told of a sensor last lies in its mark.
CREATE TABLE webhooks (
  webhook_id text COLLATE "C" PRIMARY KEY,
  webhook_type text NOT NULL,
  name text NOT NULL,
  target_url text NOT NULL,
  secret_sealed text,
  next_secret_sealed text,
  rotates_at_ms bigint,
  options json NOT NULL,
  paused_at_ms bigint,
  destination json NOT NULL,
  created_at_ms bigint NOT NULL,
  changed_at_ms bigint NOT NULL,
  revision integer NOT NULL,
  CHECK ((next_secret_sealed IS NULL) = (rotates_at_ms IS NULL))
);
CREATE TABLE delivery_alerts (
  alert_id text COLLATE "C" PRIMARY KEY,
  alert json NOT NULL,
  posted_at_ms bigint NOT NULL
);
CREATE TABLE deliveries (
  delivery_id text COLLATE "C" PRIMARY KEY,
  webhook_id text COLLATE "C" NOT NULL REFERENCES webhooks (webhook_id) ON DELETE CASCADE,
  alert_id text COLLATE "C" NOT NULL REFERENCES delivery_alerts (alert_id),
  dedup_key text NOT NULL,
  state text NOT NULL CHECK (state IN ('waiting', 'sending', 'delivered', 'folded', 'dead')),
  due_at_ms bigint NOT NULL,
  attempts integer NOT NULL,
  give_up_at_ms bigint NOT NULL,
  ended_at_ms bigint,
  reason text,
  folded_into text COLLATE "C",
  lease_epoch bigint,
  lease_until_ms bigint,
  created_at_ms bigint NOT NULL,
  CHECK ((state = 'sending') = (lease_epoch IS NOT NULL)),
  CHECK ((state IN ('delivered', 'folded', 'dead')) = (ended_at_ms IS NOT NULL))
);
CREATE INDEX deliveries_waiting ON deliveries (webhook_id, due_at_ms, delivery_id)
  WHERE state = 'waiting';
CREATE INDEX deliveries_waiting_by_key ON deliveries (webhook_id, dedup_key)
  WHERE state = 'waiting';
CREATE INDEX deliveries_sending ON deliveries (lease_until_ms) WHERE state = 'sending';
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, delivery_id);
CREATE INDEX deliveries_ended ON deliveries (ended_at_ms) WHERE ended_at_ms IS NOT NULL;
CREATE INDEX deliveries_folded ON deliveries (folded_into) WHERE folded_into IS NOT NULL;
CREATE INDEX deliveries_by_alert ON deliveries (alert_id);
CREATE TABLE delivery_attempts (
  delivery_id text COLLATE "C" NOT NULL REFERENCES deliveries (delivery_id) ON DELETE CASCADE,
  number integer NOT NULL,
  at_ms bigint NOT NULL,
  duration_ms bigint NOT NULL,
  outcome text NOT NULL,
  status integer,
  detail text NOT NULL,
  request text NOT NULL,
  response text NOT NULL,
  PRIMARY KEY (delivery_id, number)
);
CREATE TABLE alert_marks (
  sensor_id text COLLATE "C" PRIMARY KEY REFERENCES sensors (sensor_id) ON DELETE CASCADE,
  mark json NOT NULL
);
