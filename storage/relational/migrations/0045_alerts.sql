-- The inbox. An alert is one row; what it counted lies beside it by name, so that nothing counts twice. Names of events are
-- here, events never are.
CREATE TABLE alerts (
  alert_id text COLLATE "C" PRIMARY KEY,
  rule_id text NOT NULL,
  sensor_id text NOT NULL,
  node_name text NOT NULL,
  kind text NOT NULL,
  source text NOT NULL,
  severity text NOT NULL,
  headline text NOT NULL,
  dedup_key text NOT NULL,
  state text NOT NULL CHECK (state IN ('open', 'acknowledged', 'resolved', 'reopened')),
  assignee text,
  alert json NOT NULL,
  standing json NOT NULL,
  match_group json NOT NULL,
  reopens text COLLATE "C",
  created_at_ms bigint NOT NULL,
  changed_at_ms bigint NOT NULL,
  told_at_ms bigint,
  revision integer NOT NULL
);
CREATE UNIQUE INDEX alerts_live ON alerts (dedup_key) WHERE state IN ('open', 'acknowledged');
CREATE INDEX alerts_by_key ON alerts (dedup_key, alert_id);
CREATE INDEX alerts_by_state ON alerts (state, alert_id);
CREATE INDEX alerts_by_sensor ON alerts (sensor_id, alert_id);
CREATE INDEX alerts_by_rule ON alerts (rule_id, alert_id);
CREATE INDEX alerts_untold ON alerts (alert_id) WHERE told_at_ms IS NULL;
CREATE INDEX alerts_settled ON alerts (changed_at_ms) WHERE state IN ('resolved', 'reopened');
CREATE TABLE alert_matches (
  rule_id text NOT NULL,
  match_id text COLLATE "C" NOT NULL,
  alert_id text COLLATE "C" NOT NULL REFERENCES alerts (alert_id) ON DELETE CASCADE,
  is_event boolean NOT NULL,
  at_ms bigint NOT NULL,
  PRIMARY KEY (rule_id, match_id)
);
CREATE INDEX alert_matches_by_alert ON alert_matches (alert_id, at_ms, match_id);
CREATE TABLE alert_notes (
  alert_id text COLLATE "C" NOT NULL REFERENCES alerts (alert_id) ON DELETE CASCADE,
  sequence integer NOT NULL,
  at_ms bigint NOT NULL,
  actor text NOT NULL,
  what text NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (alert_id, sequence)
);
