-- SIEM destinations, and how far stored events are settled: each Console promises a floor of what it still stores, the
-- lowest is the horizon that nothing appears before.
CREATE TABLE siem_destinations (
  destination_id text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL,
  name text NOT NULL UNIQUE,
  target_url text NOT NULL,
  secret_sealed text,
  has_token boolean NOT NULL,
  filter text NOT NULL,
  options json NOT NULL,
  standing json NOT NULL,
  created_at_ms bigint NOT NULL,
  changed_at_ms bigint NOT NULL,
  revision integer NOT NULL
);
CREATE TABLE sink_floors (
  life text COLLATE "C" PRIMARY KEY,
  floor_ms bigint NOT NULL,
  told_at_ms bigint NOT NULL
);
CREATE TABLE sink_horizon (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  horizon_ms bigint NOT NULL
);
INSERT INTO sink_horizon (horizon_ms) VALUES (0);
